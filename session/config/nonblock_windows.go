package config

// nonblock is not needed: no file of a folder is a pipe.
const nonblock = 0
