/**
 * A network of its own for a test, as a site has one: a Linux network namespace, joined to the test's by a pair of
 * virtual interfaces. What runs inside can have any port, announce itself and listen to everybody, and nobody but the
 * test is there to see it.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes, randomInt } from 'node:crypto';

/** Whether this process may make one: root may, unless it is root of a container that is kept from it. */
export const networksCanBeMade =
  process.platform === 'linux' && spawnSync('unshare', ['--net', 'true'], { stdio: 'ignore' }).status === 0;

export interface Network {
  /** Its interface, that interface's address, and the address of the test's end. */
  readonly interface: string;
  readonly inside: string;
  readonly outside: string;
  /** Words to put before a program to run it inside; the process becomes the program's own. */
  readonly within: readonly string[];
  /** What still runs inside keeps its namespace until it ends. */
  close(): void;
}

export function openNetwork(): Network {
  const name = `platen-${randomBytes(3).toString('hex')}`;
  const [outer, inner] = [`${name}-o`, `${name}-i`];
  // RFC 2544: addresses for tests, which no real network has.
  const base = `198.${18 + randomInt(2)}.${randomInt(256)}`;
  const fourth = randomInt(64) * 4;
  const [outside, inside] = [`${base}.${fourth + 1}`, `${base}.${fourth + 2}`];
  const ip = (...args: string[]) => execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  ip('netns', 'add', name);
  // Its interfaces go with it.
  const close = () => void ip('netns', 'delete', name);
  try {
    ip('link', 'add', outer, 'type', 'veth', 'peer', 'name', inner, 'netns', name);
    ip('address', 'add', `${outside}/30`, 'dev', outer);
    ip('link', 'set', outer, 'up');
    ip('-n', name, 'address', 'add', `${inside}/30`, 'dev', inner);
    for (const each of [inner, 'lo']) ip('-n', name, 'link', 'set', each, 'up');
  } catch (error) {
    close();
    throw error;
  }
  return { interface: inner, inside, outside, within: ['ip', 'netns', 'exec', name], close };
}
