/** Languages that take a command a line (TSPL, EPL2). Nothing here draws: the agent's own thread uses it. */

export function commandLines(commands: readonly string[]): Buffer {
  return Buffer.from(commands.map((command) => `${command}\r\n`).join(''));
}

/** Empty lines, at least so many bytes: they are no command, and complete the data of a BITMAP or GW that broke off. */
export function emptyLines(bytes: number): Buffer {
  return Buffer.alloc(bytes + (bytes % 2), '\r\n');
}
