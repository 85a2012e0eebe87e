/*
 * With -D REACH=n the checker is to find that the model gets to the place n: it must be "violated".
 */
#ifdef REACH
#define REACHED(x) assert(x != REACH);
#else
#define REACHED(x)
#endif
