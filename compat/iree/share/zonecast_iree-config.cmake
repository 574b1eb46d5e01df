# Gives the target zonecast::iree, the static library. For `find_package(zonecast_iree)`.
get_filename_component(ZONECAST_IREE_PREFIX "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET zonecast::iree)
  add_library(zonecast::iree STATIC IMPORTED GLOBAL)
  set_target_properties(zonecast::iree PROPERTIES
    IMPORTED_LOCATION "${ZONECAST_IREE_PREFIX}/lib/libzonecast_iree.a"
    INTERFACE_INCLUDE_DIRECTORIES "${ZONECAST_IREE_PREFIX}/include"
    INTERFACE_LINK_LIBRARIES "stdc++;pthread;dl;m")
endif()

# What IREE's own build asks for.
set(ZONECAST_IREE_LIBRARY "${ZONECAST_IREE_PREFIX}/lib/libzonecast_iree.a")
set(ZONECAST_IREE_HEADER "${ZONECAST_IREE_PREFIX}/include/zonecast_iree.h")
