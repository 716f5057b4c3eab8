// Common words that headers of other libraries define as macros: windows.h, then X11, Qt, system
// headers, and assertions.
#define near
#define far
#define small char
#define hyper long
#define interface struct
#define pascal
#define IN
#define OUT
#define OPTIONAL
#define CONST const
#define VOID void
#define ERROR 0
#define DELETE 0x10000L
#define TRUE 1
#define FALSE 0
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))

#define None 0L
#define Bool int
#define True 1
#define False 0
#define Status int
#define Success 0
#define Always 2
#define Never 1
#define Unsorted 0
#define Above 0
#define Below 1

#define signals public
#define slots
#define emit
#define foreach for
#define forever for (;;)

#define I (__extension__ 1.0iF)
#define major(device) ((device) >> 8)
#define minor(device) ((device)&255)
#define unix 1
#define linux 1

#define assert(condition)
#define check(condition) condition
#define verify(condition) condition
#define require(condition) condition
#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
