/* Preloaded into a program that listens on all addresses and cannot be told another:
 * what it binds to any address is bound to 127.0.0.1. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

int bind(int fd, const struct sockaddr *to, socklen_t size)
{
	int (*next)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "bind");
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	if (to->sa_family == AF_INET && size >= sizeof in) {
		memcpy(&in, to, sizeof in);
		if (in.sin_addr.s_addr == htonl(INADDR_ANY))
			in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		return next(fd, (struct sockaddr *)&in, sizeof in);
	}
	if (to->sa_family == AF_INET6 && size >= sizeof in6) {
		memcpy(&in6, to, sizeof in6);
		/* A socket of both protocols, as Java's are, takes IPv4's address so. */
		if (IN6_IS_ADDR_UNSPECIFIED(&in6.sin6_addr))
			inet_pton(AF_INET6, "::ffff:127.0.0.1", &in6.sin6_addr);
		return next(fd, (struct sockaddr *)&in6, sizeof in6);
	}
	return next(fd, to, size);
}
