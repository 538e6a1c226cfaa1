/** For languages with a command per line (TSPL, EPL2). No drawing code: the agent's own thread loads this. */

export function commandLines(commands: readonly string[]): Buffer {
  return Buffer.from(commands.map((command) => `${command}\r\n`).join(''));
}

/** At least `bytes` bytes of empty lines: they are no command, and complete a BITMAP or GW cut short. */
export function emptyLines(bytes: number): Buffer {
  return Buffer.alloc(bytes + (bytes % 2), '\r\n');
}
