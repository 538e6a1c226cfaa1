/** Whatever a program that runs on writes is its user's alone: journals and pictures hold label data, keys are keys. */

/** From now on, whatever the umask was. A directory that is there already keeps its mode; what is put into it does not need it. */
export function keepFilesPrivate(): void {
  process.umask(0o077);
}
