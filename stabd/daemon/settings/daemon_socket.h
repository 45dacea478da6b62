// The daemon's Unix sockets: where they are, whether one can be made there, and who has connected.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "stabd/daemon/settings/peer.h"

namespace stab::daemon {

// kBusy where a daemon listens on `path`, kBadInput where something else is there.
Status check_socket_is_free(const std::string& path);

// Where a daemon that listens on `socket` speaks HTTP: the same path with ".web" at its end.
std::string web_socket_beside(const std::string& socket);

// Where the machine's daemon listens, as its units start it.
inline constexpr char kSystemSocket[] = "/run/stab/stab.sock";

// $XDG_RUNTIME_DIR/stab.sock, else kSystemSocket for root, else /tmp/stab-UID.sock.
std::string default_socket();

// Who is at the other end of an accepted connection, without the connection itself. Nothing where the kernel doesn't say.
std::optional<Peer> peer_of(int fd);

}  // namespace stab::daemon
