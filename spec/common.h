/*
 * With -D REACH=n, the checker must report a violated assertion. This shows that the model reaches the place n.
 */
#ifdef REACH
#define REACHED(x) assert(x != REACH);
#else
#define REACHED(x)
#endif
