/**
 * For languages with one command in each line (TSPL, EPL2). This has no drawing code, because the agent's own thread loads it.
 */

export function commandLines(commands: readonly string[]): Buffer {
  return Buffer.from(commands.map((command) => `${command}\r\n`).join(''));
}

/** Empty lines of at least `bytes` bytes. They are no command, and they complete a BITMAP or GW that was cut short. */
export function emptyLines(bytes: number): Buffer {
  return Buffer.alloc(bytes + (bytes % 2), '\r\n');
}
