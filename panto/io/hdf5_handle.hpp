// Owning handles of the HDF5 C interface, private to this folder's sources.
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

namespace panto::hdf5 {

class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    reset();
    id_ = std::exchange(other.id_, H5I_INVALID_HID);
    close_ = other.close_;
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  [[nodiscard]] hid_t get() const { return id_; }
  [[nodiscard]] bool ok() const { return id_ >= 0; }
  // False when closing failed: for files, when the last bytes could not be written.
  bool reset() {
    const hid_t id = std::exchange(id_, H5I_INVALID_HID);
    return id < 0 || close_ == nullptr || close_(id) >= 0;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

// The library prints its error stack by default; we report through diagnostics instead. Restored on exit.
class Silence {
 public:
  Silence() {
    // Every handle is closed by its owner; the library's own clean-up at exit complains after damaged files.
    [[maybe_unused]] static const herr_t once = H5dont_atexit();
    H5Eget_auto2(H5E_DEFAULT, &function_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Silence() { H5Eset_auto2(H5E_DEFAULT, function_, data_); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;

 private:
  H5E_auto2_t function_ = nullptr;
  void* data_ = nullptr;
};

inline constexpr const char* kFormat = "pantograph run";
inline constexpr int kFormatVersion = 1;
inline constexpr const char* kEstimateFormat = "pantograph estimates";
inline constexpr int kEstimateFormatVersion = 1;
inline constexpr const char* kTwinFormat = "pantograph twin study";
inline constexpr int kTwinFormatVersion = 1;
inline constexpr const char* kTableFormat = "pantograph table";
inline constexpr const char* kLinearFormat = "pantograph linear trajectory";
inline constexpr int kLinearFormatVersion = 1;
inline constexpr const char* kReductionFormat = "pantograph reduction";
inline constexpr int kReductionFormatVersion = 1;

}  // namespace panto::hdf5
