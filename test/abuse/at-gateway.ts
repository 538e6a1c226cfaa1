/** What strangers, and whoever has a stolen agent's key, may try where agents at other sites join. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { enrollAgent } from '../../src/cli/enrolment.ts';
import { invitationMade } from '../../src/contract/agent-view.ts';
import { GATEWAY_PATH, PROTOCOL } from '../../src/contract/gateway.ts';
import type { JoiningAgent } from '../../src/queue/index.ts';
import { RawAgent } from '../kit/wire/raw-agent.ts';
import type { Attack } from './callers.ts';
import type { Target } from './target.ts';

/** More than may be unproven at a time. */
const STRANGERS = 300;
/** ms that an honest agent may take to join meanwhile. An answer is all that counts where time does not. */
const HUNG = 30_000;

const HELLO = JSON.stringify({
  ...{ kind: 'hello', agent: 'agent-of-nobody', process: 'process-one', version: '1' },
  nonce: randomBytes(16).toString('base64url'),
});

export const AT_GATEWAY: readonly Attack[] = [
  strangers('strangers at the upgrade who say nothing', () => ''),
  strangers('strangers who do not end their upgrade', undefined),
  strangers('strangers who do not end their frame', () => frame(1, HELLO.repeat(40), { of: 0.9 })),
  strangers('strangers who announce a frame of a terabyte', () => header(1, 2 ** 40)),
  strangers('strangers who send bombs as if packed', () => frame(1, 'x'.repeat(10_000), { flags: 0x40 })),
  strangers('strangers whose frame comes in empty parts without end', () =>
    Buffer.concat([frame(1, '{', { fin: false }), ...Array(1_500).fill(frame(0, '', { fin: false }))]),
  ),
  strangers('strangers who are no agent', () =>
    Buffer.concat([frame(1, HELLO), frame(1, JSON.stringify({ kind: 'proof', signature: 'a'.repeat(86) }))]),
  ),
  byStolenAgent('frames of a stolen agent as long as they may be, of lists in lists', (share) =>
    frame(1, '['.repeat(1_000_000 * share)),
  ),
  byStolenAgent('frames of a stolen agent that are longer', () => header(1, 2 ** 31)),
  byStolenAgent('frames of a stolen agent in thousands of parts', (share) =>
    Buffer.concat([
      frame(1, '{', { fin: false }),
      ...Array(16_000 * share).fill(frame(0, ' ', { fin: false })),
    ]),
  ),
  byStolenAgent('questions of a stolen agent about as many lanes as it may', (share) => {
    const ask = (n: number) => ({ lane: `serial-${n.toString(16).padStart(12, '0')}`, term: 'a.1' });
    const asks = Array.from({ length: 5_000 * share }, (_, n) => ({ ...ask(n), fresh: true, reaches: true }));
    const length = { contended: 15_000, alone: 60_000 };
    return frame(1, JSON.stringify({ kind: 'lease', i: 1, asks, length }));
  }),
  byStolenAgent('as many entries of a stolen agent as it may', () => {
    const fence = { lane: 'serial-00000000beef', term: 'process-one.1' };
    const entries = Array.from({ length: 64 }, (_, n) => {
      const ended = { what: 'ended', id: 'of nobody', delivery: 1 };
      const take = { what: 'take', beside: [], number: n, waits: true };
      return { i: n + 1, ...fence, ...(n % 2 === 0 ? ended : take) };
    });
    return frame(1, JSON.stringify({ kind: 'say', entries }));
  }),
];

/** Connections of strangers, and new ones as those are closed. @param said after the upgrade; undefined: half of the upgrade */
function strangers(name: string, said: (() => string | Buffer) | undefined): Attack {
  return {
    name,
    run: async (target, { seconds, share }) => {
      const until = performance.now() + seconds * 1_000;
      const upgrade = upgradeTo(target);
      const bytes =
        said === undefined ? upgrade.slice(0, -4) : Buffer.concat([Buffer.from(upgrade), bufferOf(said())]);
      const honest = joins(target);
      for (let n = 0; n === 0 || performance.now() < until; n++) {
        await Promise.all(Array.from({ length: STRANGERS * share }, () => target.dial(bytes)));
        target.drip();
        await pause(20);
        if (n % 10 === 9) target.hangUp();
      }
      return await honest;
    },
  };
}

/** One frame again and again, by an agent that joins anew whenever it is thrown out. */
function byStolenAgent(name: string, made: (share: number) => Buffer): Attack {
  return {
    name,
    run: async (target, { seconds, share }) => {
      const until = performance.now() + seconds * 1_000;
      const bytes = made(share);
      const honest = joins(target);
      await using stolen = await enrolled(target);
      for (let n = 0; n === 0 || performance.now() < until; n++) {
        const agent = await RawAgent.join(stolen.enrolment, { process: 'process-one' });
        await Promise.race([agent.next('welcome'), agent.closed]).catch(() => undefined);
        while (agent.socket.readyState === WebSocket.OPEN && performance.now() < until) {
          if (agent.stream?.write(bytes) !== true) await pause(20);
        }
        agent.socket.terminate();
      }
      return await honest;
    },
  };
}

/** Whether an honest agent joins, whatever else goes on. @returns what is wrong */
async function joins(target: Target): Promise<string[]> {
  await using honest = await enrolled(target);
  for (let times = 0; times < 3; times++) {
    const agent = await RawAgent.join(honest.enrolment, { process: 'process-one' });
    const limit = AbortSignal.timeout(HUNG);
    const welcome = await Promise.race([agent.next('welcome').catch(() => undefined), once(limit)]);
    agent.socket.terminate();
    await agent.closed;
    if (welcome === undefined) return ['an honest agent could not join'];
  }
  return [];
}

async function enrolled(target: Target): Promise<AsyncDisposable & { enrolment: JoiningAgent }> {
  const data = mkdtempSync(join(tmpdir(), 'platen-agent-'));
  const made = await target.up.admin.ofAgents(invitationMade, 'POST', '/invitations', { name: 'dock' });
  const enrolment = { ...(await enrollAgent(`${target.up.url}#${made.code}`, data)), version: '1' };
  return {
    enrolment,
    [Symbol.asyncDispose]: async () => rmSync(data, { recursive: true, force: true }),
  };
}

function upgradeTo({ up }: Target): string {
  const key = randomBytes(16).toString('base64');
  return [
    `GET ${GATEWAY_PATH} HTTP/1.1`,
    `host: ${new URL(up.url).host}`,
    ...['connection: Upgrade', 'upgrade: websocket', 'sec-websocket-version: 13'],
    ...[`sec-websocket-key: ${key}`, `sec-websocket-protocol: ${PROTOCOL}`],
    'sec-websocket-extensions: permessage-deflate',
    '\r\n',
  ].join('\r\n');
}

/** RFC 6455, 5.2, masked with zeros. @param flags beside the last one of a message; `of`: how much of it is sent */
function frame(opcode: number, text: string, { fin = true, flags = 0, of = 1 } = {}): Buffer {
  const whole = Buffer.concat([header(opcode, text.length, fin, flags), Buffer.from(text)]);
  return whole.subarray(0, Math.floor(whole.length * of));
}

function header(opcode: number, length: number, fin = true, flags = 0): Buffer {
  const first = (fin ? 0x80 : 0) | flags | opcode;
  const size = length < 126 ? [] : length < 65_536 ? bytesOf(length, 2) : bytesOf(length, 8);
  const marked = length < 126 ? length : length < 65_536 ? 126 : 127;
  return Buffer.from([first, 0x80 | marked, ...size, 0, 0, 0, 0]);
}

function bytesOf(value: number, count: number): number[] {
  return Array.from({ length: count }, (_, at) => Math.floor(value / 256 ** (count - 1 - at)) % 256);
}

function bufferOf(said: string | Buffer): Buffer {
  return typeof said === 'string' ? Buffer.from(said) : said;
}

async function once(signal: AbortSignal): Promise<undefined> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
}
