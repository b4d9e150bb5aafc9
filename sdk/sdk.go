// Package sdk has the source of the SDK for drivers in Python, which tsmark new-driver copies.
package sdk

import "embed"

// Python has the files of the package tsmark_driver in the folder PythonFolder.
//
//go:embed python/src/tsmark_driver/*.py python/src/tsmark_driver/py.typed
var Python embed.FS

// PythonFolder is the folder of the package in Python.
const PythonFolder = "python/src/tsmark_driver"
