/* The simulation device that the vendor's library loads into its process: it passes every access on to tensim.

   Its functions are those that the library's driver asks of a simulator (docs/library.md).  Releases differ in the way: older
   ones read and write tiles, newer ones PCI memory, whose windows (TLBs) name the tile.  Writes are collected and sent with the
   next read, so that a large tensor costs few messages.  A word may tell a core to run, which tensim must know before the
   library's next operation begins or ends: whoever says so to tensim has them sent, by the function whose address stands in the
   environment; where nobody does (the variable is not there), each word is sent at once.  A second connection brings what chips read
   and write in the host's memory, by the functions that the driver has given for that: each chip sees its own part of it, as the
   driver tells the registers of that chip's PCIe tile (the outbound iATU).  The socket's path is in the environment, because the library may load a copy
   of this file. */

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { OPEN = 1, WRITE, READ, CLOSE, HOST };
enum { BUFFERED = 1 << 20, CLOSED_STATUS = 70, WORD = 4, PROCESS_DIGITS = 8, ADDRESS_DIGITS = 16 };

struct message {
    uint32_t kind, x, y, bytes;
    uint64_t address;
};

static int connection = -1, host_connection = -1, blackhole;
static void (*read_host)(uint64_t address, void *data, uint32_t bytes);
static void (*write_host)(uint64_t address, const void *data, uint32_t bytes);
static pthread_t host_thread;
static uint8_t *pending;
static size_t pending_bytes;
/* Words at one address of several tiles, which are so until the next write: what cores do depends on that alone. */
enum { MOST_KNOWN = 1 << 14 };
struct known {
    uint32_t x, y, word;
};
static struct known known[MOST_KNOWN];
static uint32_t known_count, known_next;
static char *flush_place; /* the variable's value in the environment: digits of the process and of the address */
static uint64_t known_address;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The simulator is gone: it has said why, and nothing can go on without it. */
static void give_up(void) {
    _exit(CLOSED_STATUS);
}

static void send_all(const void *data, size_t size) {
    const uint8_t *at = data;
    while (size > 0) {
        ssize_t sent = send(connection, at, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            give_up();
        at += sent;
        size -= sent;
    }
}

static void receive_all(void *data, size_t size) {
    uint8_t *at = data;
    while (size > 0) {
        ssize_t got = recv(connection, at, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            give_up();
        at += got;
        size -= got;
    }
}

static void flush(void) {
    send_all(pending, pending_bytes);
    pending_bytes = 0;
}

static void post(uint32_t kind, uint32_t x, uint32_t y, uint64_t address, const void *data, uint32_t bytes) {
    struct message head = {kind, x, y, bytes, address};
    if (pending_bytes + sizeof head + bytes > BUFFERED)
        flush();
    memcpy(pending + pending_bytes, &head, sizeof head);
    pending_bytes += sizeof head;
    if (kind != WRITE)
        return;
    if (sizeof head + bytes > BUFFERED) {
        flush();
        send_all(data, bytes);
        return;
    }
    memcpy(pending + pending_bytes, data, bytes);
    pending_bytes += bytes;
}

static void write_tile(uint32_t x, uint32_t y, uint64_t address, const void *data, uint32_t bytes) {
    known_count = 0;
    post(WRITE, x, y, address, data, bytes);
    if (bytes == WORD && !flush_place)
        flush();
}

/* Cores are asked in the order in which they are known, or nearly: the search begins behind the last one found. */
static int find_known(uint32_t x, uint32_t y, uint64_t address, void *data) {
    if (address != known_address)
        return 0;
    for (uint32_t i = 0; i < known_count; i++) {
        const struct known *one = &known[(known_next + i) % known_count];
        if (one->x == x && one->y == y) {
            memcpy(data, &one->word, WORD);
            known_next = (known_next + i + 1) % known_count;
            return 1;
        }
    }
    return 0;
}

static void read_tile(uint32_t x, uint32_t y, uint64_t address, void *data, uint32_t bytes) {
    if (bytes == WORD && find_known(x, y, address, data))
        return;
    post(READ, x, y, address, NULL, bytes);
    flush();
    receive_all(data, bytes);
    if (bytes != WORD)
        return;
    uint32_t count;
    receive_all(&count, sizeof count);
    if (count > MOST_KNOWN)
        give_up();
    if (count > 0) {
        receive_all(known, count * sizeof *known);
        known_count = count, known_next = 0, known_address = address;
    }
}

/* --- memory of the host */

/* Regions of the outbound iATU, each with 0x200 bytes of registers (of which the upper half is the inbound one's); the upper half of
   a limit is that of its base.  ISA, PCIExpressTile/README.md, has its place in BAR 2 of Wormhole; Blackhole's is tt-umd's
   ATU_OFFSET_IN_BH_BAR2. */
enum { MOST_CHIPS = 32, IATU_REGIONS = 16, IATU_WORDS = 0x80, IATU_AT_WORMHOLE = 0x1200, IATU_AT_BLACKHOLE = 0x1000 };
enum { IATU_CONTROL = 1, IATU_BASE, IATU_BASE_HIGH, IATU_LIMIT, IATU_TARGET, IATU_TARGET_HIGH };
#define IATU_ENABLED 0x80000000u

static uint32_t iatu[MOST_CHIPS][IATU_REGIONS][IATU_WORDS];

static uint64_t wide(uint32_t high, uint32_t low) {
    return (uint64_t)high << 32 | low;
}

/* The host's address of what a chip calls so: what no region holds stays as it is. */
static uint64_t host_address(uint32_t chip, uint64_t address) {
    for (int i = 0; chip < MOST_CHIPS && i < IATU_REGIONS; i++) {
        const uint32_t *region = iatu[chip][i];
        uint64_t base = wide(region[IATU_BASE_HIGH], region[IATU_BASE]);
        if (region[IATU_CONTROL] & IATU_ENABLED && address >= base &&
            address <= wide(region[IATU_BASE_HIGH], region[IATU_LIMIT]))
            return address - base + wide(region[IATU_TARGET_HIGH], region[IATU_TARGET]);
    }
    return address;
}

static int receive_from_chip(void *data, size_t size) {
    return recv(host_connection, data, size, MSG_WAITALL) == (ssize_t)size;
}

/* Carry out what the chip asks for, until the connection ends.  Signals are for the program's own threads. */
static void *serve_host_memory(void *unused) {
    struct message head;
    uint8_t *data = malloc(BUFFERED);
    sigset_t all;
    (void)unused;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    while (receive_from_chip(&head, sizeof head) && head.bytes <= BUFFERED) {
        uint64_t address = host_address(head.x, head.address);
        if (head.kind == WRITE) {
            if (!receive_from_chip(data, head.bytes))
                break;
            write_host(address, data, head.bytes);
            head.bytes = 1; /* the answer: done */
        } else
            read_host(address, data, head.bytes);
        if (send(host_connection, data, head.bytes, MSG_NOSIGNAL) != (ssize_t)head.bytes)
            break;
    }
    free(data);
    return NULL;
}

static int connect_to_simulator(void) {
    const char *path = getenv("TENSIM_LIBRARY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (!path || strlen(path) >= sizeof address.sun_path)
        give_up();
    strcpy(address.sun_path, path);
    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made < 0 || connect(made, (struct sockaddr *)&address, sizeof address) != 0) {
        fprintf(stderr, "tensim: cannot reach the simulator\n");
        give_up();
    }
    return made;
}

static void offer_host_memory(void) {
    struct message head = {.kind = HOST};
    host_connection = connect_to_simulator();
    if (send(host_connection, &head, sizeof head, MSG_NOSIGNAL) != (ssize_t)sizeof head ||
        pthread_create(&host_thread, NULL, serve_host_memory, NULL) != 0)
        give_up();
}

/* --- windows of BAR 0, registers of BAR 2 behind it */

#define BAR0 0x100000000ull
#define CHIP_SHIFT 36 /* of an address: whose memory it is */
#define BAR_SIZE 0x20000000ull
#define TLB_REGISTERS 0x1FC00000ull
enum { WORMHOLE_TLBS = 186, BLACKHOLE_TLBS = 202 };

static uint64_t wormhole_tlbs[MOST_CHIPS][WORMHOLE_TLBS];
static uint32_t blackhole_tlbs[MOST_CHIPS][3 * BLACKHOLE_TLBS];

struct place {
    uint32_t x, y;
    uint64_t address;
};

static int wormhole_window(uint64_t offset, int *number, int *bits, uint64_t *base) {
    static const struct { uint64_t begin, end; int first, bits; } kinds[] = {
        {0, 0x9C00000, 0, 20}, {0x9C00000, 0xB000000, 156, 21}, {0xB000000, 0x1F000000, 166, 24}};
    for (int i = 0; i < 3; i++)
        if (offset >= kinds[i].begin && offset < kinds[i].end) {
            uint64_t within = (offset - kinds[i].begin) >> kinds[i].bits;
            *number = kinds[i].first + (int)within;
            *bits = kinds[i].bits;
            *base = kinds[i].begin + (within << kinds[i].bits);
            return 1;
        }
    return 0;
}

static int find_place(uint32_t chip, uint64_t offset, struct place *place) {
    if (blackhole) {
        if (offset >> 21 >= BLACKHOLE_TLBS)
            return 0;
        const uint32_t *tlb = blackhole_tlbs[chip] + 3 * (offset >> 21);
        place->address = ((tlb[0] + ((uint64_t)(tlb[1] & 0x7FF) << 32)) << 21) + (offset & 0x1FFFFF);
        place->x = (tlb[1] >> 11 & 63) | chip << 16;
        place->y = tlb[1] >> 17 & 63;
        return 1;
    }
    int number, bits;
    uint64_t base;
    if (!wormhole_window(offset, &number, &bits, &base))
        return 0;
    uint64_t tlb = wormhole_tlbs[chip][number];
    int local = 36 - bits;
    place->address = ((tlb & ((1ull << local) - 1)) << bits) + (offset - base);
    place->x = (tlb >> local & 63) | chip << 16;
    place->y = tlb >> (local + 6) & 63;
    return 1;
}

/* Registers that keep what the driver writes to them, of BAR 0 and of BAR 2: where an access to them goes. */
static int kept_register(uint32_t chip, uint64_t offset, uint32_t bytes, uint8_t **at) {
    const struct { uint64_t begin; size_t size; void *registers; } files[] = {
        {TLB_REGISTERS, blackhole ? sizeof *blackhole_tlbs : sizeof *wormhole_tlbs,
         blackhole ? (void *)blackhole_tlbs[chip] : (void *)wormhole_tlbs[chip]},
        {BAR_SIZE + (blackhole ? IATU_AT_BLACKHOLE : IATU_AT_WORMHOLE), sizeof *iatu, iatu[chip]}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        uint64_t within = offset - files[i].begin;
        if (offset >= files[i].begin && within <= files[i].size && bytes <= files[i].size - within) {
            *at = (uint8_t *)files[i].registers + within;
            return 1;
        }
    }
    return 0;
}

static void pci_access(uint64_t address, void *data, uint32_t bytes, int is_write) {
    struct place place;
    uint8_t *at;
    uint32_t chip = (uint32_t)(address >> CHIP_SHIFT);
    uint64_t offset = (address & ((1ull << CHIP_SHIFT) - 1)) - BAR0;
    if (chip < MOST_CHIPS) {
        if (kept_register(chip, offset, bytes, &at)) {
            memcpy(is_write ? at : data, is_write ? data : at, bytes);
            return;
        }
        if (offset < BAR_SIZE && find_place(chip, offset, &place)) {
            if (is_write)
                write_tile(place.x, place.y, place.address, data, bytes);
            else
                read_tile(place.x, place.y, place.address, data, bytes);
            return;
        }
    }
    if (!is_write) /* configuration that only the driver looks at */
        memset(data, 0, bytes);
}

/* --- what the library's process calls */

static void flush_for_operation(void) {
    pthread_mutex_lock(&lock);
    if (connection >= 0)
        flush();
    pthread_mutex_unlock(&lock);
}

/* The value is overwritten where it stands: setenv would move the environment, which other threads may read. */
static void show_flush(uintptr_t address) {
    char text[PROCESS_DIGITS + ADDRESS_DIGITS + 1];
    snprintf(text, sizeof text, "%0*x%0*llx", PROCESS_DIGITS, (unsigned)getpid(), ADDRESS_DIGITS, (unsigned long long)address);
    memcpy(flush_place, text, sizeof text - 1);
}

/* --- what the library calls */

void libttsim_init(void) {
    const char *arch = getenv("TENSIM_LIBRARY_ARCH");
    blackhole = arch && strcmp(arch, "blackhole") == 0;
    connection = connect_to_simulator();
    known_count = 0;
    pending = malloc(BUFFERED + sizeof(struct message));
    flush_place = getenv("TENSIM_LIBRARY_FLUSH");
    if (flush_place && strlen(flush_place) != PROCESS_DIGITS + ADDRESS_DIGITS)
        flush_place = NULL;
    if (flush_place)
        show_flush((uintptr_t)flush_for_operation);
    post(OPEN, 0, 0, 0, NULL, 0);
    flush();
    if (read_host && write_host)
        offer_host_memory();
}

void libttsim_exit(void) {
    pthread_mutex_lock(&lock);
    if (connection >= 0) {
        uint32_t ended;
        post(CLOSE, 0, 0, 0, NULL, 0);
        flush();
        receive_all(&ended, sizeof ended);
        close(connection);
        if (host_connection >= 0) { /* its thread must end before the driver unloads this file */
            shutdown(host_connection, SHUT_RDWR);
            pthread_join(host_thread, NULL);
            close(host_connection);
        }
        connection = host_connection = -1;
        free(pending);
        if (flush_place)
            show_flush(0);
    }
    pthread_mutex_unlock(&lock);
}

uint32_t libttsim_pci_config_rd32(uint32_t bdf, uint32_t offset) {
    static const struct { uint32_t offset, value; } bars[] = {
        {0x10, 0x00000004}, {0x14, 1}, {0x18, 0x20000004}, {0x1C, 1}, {0x20, 0x00000004}, {0x24, 8}};
    const char *chips = getenv("TENSIM_LIBRARY_CHIPS");
    uint32_t chip = bdf >> 3;
    if ((bdf & 7) != 0 || chip >= (chips ? (uint32_t)atoi(chips) : 1))
        return 0xFFFFFFFF;
    if (offset == 0)
        return blackhole ? 0xB1401E52 : 0x401E1E52;
    for (size_t i = 0; i < sizeof bars / sizeof *bars; i++)
        if (bars[i].offset == offset)
            return bars[i].value + (offset & 4 ? chip << (CHIP_SHIFT - 32) : 0);
    return 0;
}

void libttsim_tile_rd_bytes(uint32_t x, uint32_t y, uint64_t address, void *data, uint32_t bytes) {
    pthread_mutex_lock(&lock);
    read_tile(x, y, address, data, bytes);
    pthread_mutex_unlock(&lock);
}

void libttsim_tile_wr_bytes(uint32_t x, uint32_t y, uint64_t address, const void *data, uint32_t bytes) {
    pthread_mutex_lock(&lock);
    write_tile(x, y, address, data, bytes);
    pthread_mutex_unlock(&lock);
}

void libttsim_pci_mem_rd_bytes(uint64_t address, void *data, uint32_t bytes) {
    pthread_mutex_lock(&lock);
    pci_access(address, data, bytes, 0);
    pthread_mutex_unlock(&lock);
}

void libttsim_pci_mem_wr_bytes(uint64_t address, const void *data, uint32_t bytes) {
    pthread_mutex_lock(&lock);
    pci_access(address, (void *)data, bytes, 1);
    pthread_mutex_unlock(&lock);
}

void libttsim_set_pci_dma_mem_callbacks(void *reads, void *writes) {
    read_host = (void (*)(uint64_t, void *, uint32_t))reads;
    write_host = (void (*)(uint64_t, const void *, uint32_t))writes;
}

void libttsim_clock(uint32_t cycles) {
    (void)cycles; /* simulated time stands still while the host thinks */
}
