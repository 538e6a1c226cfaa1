/** Keeps a running program's files to its user: journals and pictures hold label data, and some are keys. */

/** From now on, whatever the umask was. Existing directories keep their mode, but new files are private. */
export function keepFilesPrivate(): void {
  process.umask(0o077);
}
