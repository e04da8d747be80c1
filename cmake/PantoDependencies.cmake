# Libraries that the modules use. Included by the build and, installed, by PantographConfig.cmake,
# so that an exported module finds every target it links.
#
#   Eigen3::Eigen                        linear algebra
#   panto_jet                            ceres/jet.h, headers only (Ceres itself is not linked)
#   panto_sundials                       CVODE, IDA, KINSOL with serial vectors and dense matrices
#   fmt::fmt                             text formatting
#   tomlplusplus::tomlplusplus           TOML
#   nlohmann_json::nlohmann_json         JSON
#   CLI11::CLI11                         command line
#   panto_hdf5                           HDF5, C interface, serial
#   panto_urdfdom                        URDF parser
#   panto_cairo                          drawing of figures
#   Ceres::ceres                         bounded nonlinear least squares
#   panto_ipopt                          interior-point optimisation
#   TBB::tbb                             threads
#   LAPACK::LAPACK                       ordered Schur forms
#   MPI::MPI_CXX                         several machines

find_package(Eigen3 3.4 REQUIRED)
find_package(fmt REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Ceres REQUIRED)
find_package(TBB REQUIRED)
find_package(LAPACK REQUIRED)
set(MPI_CXX_SKIP_MPICXX TRUE)  # the C interface
find_package(MPI REQUIRED COMPONENTS CXX)
find_package(SUNDIALS 6.4 REQUIRED COMPONENTS cvode ida kinsol nvecserial sunmatrixdense
                                              sunlinsoldense)

if(NOT TARGET panto_sundials)
  add_library(panto_sundials INTERFACE IMPORTED GLOBAL)
  set_property(
    TARGET panto_sundials
    PROPERTY INTERFACE_LINK_LIBRARIES
             SUNDIALS::cvode_shared SUNDIALS::ida_shared SUNDIALS::kinsol_shared
             SUNDIALS::nvecserial_shared SUNDIALS::sunmatrixdense_shared
             SUNDIALS::sunlinsoldense_shared)
endif()

if(NOT TARGET panto_jet)
  find_path(PANTO_JET_INCLUDE_DIR ceres/jet.h)
  if(NOT PANTO_JET_INCLUDE_DIR)
    message(FATAL_ERROR "ceres/jet.h not found (Debian: libceres-dev)")
  endif()
  add_library(panto_jet INTERFACE IMPORTED GLOBAL)
  target_include_directories(panto_jet INTERFACE "${PANTO_JET_INCLUDE_DIR}")
  target_link_libraries(panto_jet INTERFACE Eigen3::Eigen)
endif()

find_package(PkgConfig REQUIRED)
if(NOT TARGET panto_hdf5)
  pkg_search_module(PANTO_HDF5 REQUIRED QUIET IMPORTED_TARGET hdf5-serial hdf5)
  add_library(panto_hdf5 INTERFACE IMPORTED GLOBAL)
  target_link_libraries(panto_hdf5 INTERFACE PkgConfig::PANTO_HDF5)
endif()
if(NOT TARGET panto_urdfdom)
  pkg_check_modules(PANTO_URDFDOM REQUIRED QUIET IMPORTED_TARGET urdfdom)
  add_library(panto_urdfdom INTERFACE IMPORTED GLOBAL)
  target_link_libraries(panto_urdfdom INTERFACE PkgConfig::PANTO_URDFDOM)
endif()
if(NOT TARGET panto_ipopt)
  pkg_check_modules(PANTO_IPOPT REQUIRED QUIET IMPORTED_TARGET ipopt)
  add_library(panto_ipopt INTERFACE IMPORTED GLOBAL)
  # The library alone: the sequential MUMPS behind it has empty MPI functions of its own, which must not come before the real ones.
  find_library(PANTO_IPOPT_LIBRARY ipopt HINTS ${PANTO_IPOPT_LIBRARY_DIRS} REQUIRED)
  mark_as_advanced(PANTO_IPOPT_LIBRARY)
  target_include_directories(panto_ipopt SYSTEM INTERFACE ${PANTO_IPOPT_INCLUDE_DIRS})
  target_compile_options(panto_ipopt INTERFACE ${PANTO_IPOPT_CFLAGS_OTHER})
  target_link_libraries(panto_ipopt INTERFACE "${PANTO_IPOPT_LIBRARY}")
endif()
if(NOT TARGET panto_cairo)
  pkg_check_modules(PANTO_CAIRO REQUIRED QUIET IMPORTED_TARGET cairo>=1.16)
  add_library(panto_cairo INTERFACE IMPORTED GLOBAL)
  target_link_libraries(panto_cairo INTERFACE PkgConfig::PANTO_CAIRO)
endif()
