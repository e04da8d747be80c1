#include "panto/io/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

namespace panto {
namespace {

Loc at(const std::string& path) { return {path, 0, 0}; }

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool ok() const { return fd_ >= 0; }
  // The result of close() matters: it is where a full disk shows on some file systems.
  bool close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0;
  }

 private:
  int fd_;
};

std::string system_reason() { return std::strerror(errno); }

// Empty, or why the file's content may not be on the disk.
std::string flush_to_disk(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.ok()) return system_reason();
  if (::fsync(file.get()) != 0) return system_reason();
  return file.close() ? std::string() : system_reason();
}

std::string write_all(const std::string& path, std::string_view text) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file.ok()) return system_reason();
  while (!text.empty()) {
    const ssize_t n = ::write(file.get(), text.data(), text.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return system_reason();
    }
    text.remove_prefix(static_cast<size_t>(n));
  }
  return file.close() ? std::string() : system_reason();
}

}  // namespace

Diagnostics write_atomically(const std::string& path,
                             const std::function<std::string(const std::string& path)>& write) {
  namespace fs = std::filesystem;
  Diagnostics diagnostics;
  const auto fail = [&](const std::string& reason) {
    diagnostics.error(620, at(path), fmt::format("cannot be written: {}", reason));
    return diagnostics;
  };
  // A symbolic link stays one: the file it points to is replaced.
  std::error_code ignored;
  const fs::path link(path);
  const fs::path target =
      fs::is_symlink(link, ignored) ? fs::weakly_canonical(link, ignored) : link;
  if (path.empty() || !target.has_filename()) return fail("the name is that of a folder");
  if (fs::is_directory(target, ignored)) return fail("a folder has this name");
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ignored))
    return fail(fmt::format("folder \"{}\" does not exist", folder.string()));
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return fail(fmt::format("folder \"{}\": {}", folder.string(), system_reason()));

  const std::string temporary =
      (folder / fmt::format(".{}.{}.tmp", target.filename().string(), ::getpid())).string();
  std::string reason = write(temporary);
  if (reason.empty()) reason = flush_to_disk(temporary);
  if (reason.empty() && std::rename(temporary.c_str(), target.c_str()) != 0)
    reason = system_reason();
  if (!reason.empty()) {
    ::unlink(temporary.c_str());
    return fail(reason);
  }
  // The new name itself survives a power cut; failing that the content is still right.
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.ok()) ::fsync(directory.get());
  return diagnostics;
}

Diagnostics write_text_atomically(const std::string& path, std::string_view text) {
  return write_atomically(path, [text](const std::string& name) { return write_all(name, text); });
}

Result<std::string> read_bytes(const std::string& path, size_t limit) {
  Diagnostics diagnostics;
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info {};
  if (!file.ok() || ::fstat(file.get(), &info) != 0) {
    diagnostics.error(621, at(path), fmt::format("cannot be read: {}", system_reason()));
    return diagnostics;
  }
  if (S_ISDIR(info.st_mode)) {
    diagnostics.error(621, at(path), "cannot be read: it is a folder");
    return diagnostics;
  }
  std::string bytes;
  bytes.reserve(info.st_size > 0 ? std::min(static_cast<size_t>(info.st_size), limit) : 0);
  std::string buffer(size_t{1} << 16, '\0');
  for (;;) {
    const ssize_t n = ::read(file.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      diagnostics.error(621, at(path), fmt::format("cannot be read: {}", system_reason()));
      return diagnostics;
    }
    if (n == 0) return bytes;
    bytes.append(buffer.data(), static_cast<size_t>(n));
    if (bytes.size() > limit) {
      diagnostics.error(622, at(path), fmt::format("is larger than {} bytes", limit));
      return diagnostics;
    }
  }
}

}  // namespace panto
