// Asks the library's own headers where its mailboxes lie: the order is that of the fields of tensim.library.mailboxes.Layout.
#if __has_include("hostdev/dev_msgs.h")
#include "hostdev/dev_msgs.h"
#else  // of releases before 0.66
#include "dev_msgs.h"
#endif

#define IN_MAILBOXES(field) __builtin_offsetof(mailboxes_t, field)
#define IN_MESSAGE(field) __builtin_offsetof(kernel_config_msg_t, field)

#ifndef MEM_TENSIX_ROUTING_TABLE_BASE  // of releases without it
#define MEM_TENSIX_ROUTING_TABLE_BASE 0
#endif

extern "C" const unsigned tensim_layout[] = {
    MEM_MAILBOX_BASE + IN_MAILBOXES(launch),
    sizeof(launch_msg_t),
    MEM_MAILBOX_BASE + IN_MAILBOXES(go_messages),
    MEM_IERISC_MAILBOX_BASE + IN_MAILBOXES(go_messages),
    IN_MESSAGE(sem_offset),
    IN_MESSAGE(local_cb_offset),
    IN_MESSAGE(rta_offset),
    IN_MESSAGE(kernel_text_offset),
    IN_MESSAGE(local_cb_mask),
    sizeof(kernel_config_msg_t::local_cb_mask),
    IN_MESSAGE(host_assigned_id),
    IN_MESSAGE(enables),
    MEM_BANK_TO_NOC_SCRATCH,
    NOC_COORD_REG_OFFSET,
    MEM_AERISC_MAILBOX_BASE + IN_MAILBOXES(launch),
    MEM_AERISC_MAILBOX_BASE + IN_MAILBOXES(go_messages),
    MEM_TENSIX_ROUTING_TABLE_BASE,
    IN_MESSAGE(mode),
};
