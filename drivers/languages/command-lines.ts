/** Languages that take a command a line (TSPL, EPL2). Nothing here draws: the agent's own thread uses it. */

export function commandLines(commands: readonly string[]): Buffer {
  return Buffer.from(commands.map((command) => `${command}\r\n`).join(''));
}

/** Empty lines of at least so many bytes: no command, or the rest of what a BITMAP or GW that broke off still expects. */
export function emptyLines(bytes: number): Buffer {
  return Buffer.alloc(bytes + (bytes % 2), '\r\n');
}
