/* Stands where the vendor's library expects its RISC-V compiler: passes the command on to tensim and prints its answer.

   A request is the working folder and the arguments, each with its length in front; the answer an exit status, the number of
   bytes that follow and these bytes, for standard error when the command failed, else for standard output. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { COMPILE = 16 };

static int transfer(int file, void *data, size_t size, int out) {
    char *at = data;
    while (size > 0) {
        ssize_t count = out ? write(file, at, size) : read(file, at, size);
        if (count <= 0)
            return 0;
        at += count;
        size -= count;
    }
    return 1;
}

static int send_text(int file, const char *text) {
    uint32_t size = strlen(text);
    return transfer(file, &size, sizeof size, 1) && transfer(file, (char *)text, size, 1);
}

int main(int count, char **arguments) {
    const char *path = getenv("TENSIM_LIBRARY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    uint32_t head[2] = {COMPILE, count - 1}, answer[2];
    char folder[4096];
    int file = socket(AF_UNIX, SOCK_STREAM, 0);
    if (!path || strlen(path) >= sizeof address.sun_path || !getcwd(folder, sizeof folder))
        return 1;
    strcpy(address.sun_path, path);
    if (connect(file, (struct sockaddr *)&address, sizeof address) != 0) {
        fprintf(stderr, "tensim: cannot reach the simulator\n");
        return 1;
    }
    int good = transfer(file, head, sizeof head, 1) && send_text(file, folder);
    for (int i = 1; good && i < count; i++)
        good = send_text(file, arguments[i]);
    if (!good || !transfer(file, answer, sizeof answer, 0))
        return 1;
    char *text = malloc(answer[1] + 1);
    if (!text || !transfer(file, text, answer[1], 0))
        return 1;
    fwrite(text, 1, answer[1], answer[0] ? stderr : stdout);
    return answer[0];
}
