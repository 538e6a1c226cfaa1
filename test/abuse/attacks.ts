/**
 * The attacks that strangers, and callers with credentials, may try. Each sends as much as the service lets
 * in, and is itself limited in time and count. It returns what it found wrong; `/healthz` and the memory are
 * watched by siege.ts.
 */
import { Agent } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { BY_STOLEN_AGENT } from './stolen-agent.ts';
import { type Target, type TemplateName, tokenForm } from './target.ts';

const BODY = 5 * 1024 * 1024 - 200;
const VALUE = 32_000;

export type Attack = {
  name: string;
  /** `share`: of the full size, 0 to 1. @returns what is wrong, one line each */
  run: (target: Target, options: { seconds: number; share: number }) => Promise<string[]>;
};

function filled(piece: string, length: number): string {
  return piece.repeat(Math.max(1, Math.floor(length / piece.length)));
}

/** Runs `count` callers that each send again and again. @returns the number of answers by status */
async function loops(
  count: number,
  seconds: number,
  send: (agent: Agent, caller: number, round: number) => Promise<{ status: number }>,
): Promise<Map<number, number>> {
  const until = performance.now() + seconds * 1000;
  const seen = new Map<number, number>();
  const agent = new Agent({ keepAlive: true, maxSockets: count });
  await Promise.all(
    Array.from({ length: count }, async (_, caller) => {
      for (let round = 0; round === 0 || performance.now() < until; round++) {
        const { status } = await send(agent, caller, round);
        seen.set(status, (seen.get(status) ?? 0) + 1);
      }
    }),
  );
  agent.destroy();
  return seen;
}

/** @returns a line for each status that is not one of those expected */
function only(seen: ReadonlyMap<number, number>, ...expected: number[]): string[] {
  return [...seen]
    .filter(([status]) => !expected.includes(status))
    .map(([status, count]) => `${count} answers with status ${status}, expected ${expected.join(' or ')}`);
}

function bodies(name: string, expected: number[], make: (length: number, target: Target) => string): Attack {
  return {
    name,
    run: async (target, { seconds, share }) => {
      const body = make(BODY * share, target);
      const seen = await loops(6, seconds, (agent) =>
        target.send({ path: '/v2/jobs/validate', headers: target.jobHeaders(), body, agent }),
      );
      return only(seen, ...expected);
    },
  };
}

/** A request with these records, which may be text that JSON.stringify would not write. */
function withRecords(target: Target, records: string, template: TemplateName = 'plain'): string {
  return `{"idT":"${target.templates[template]}","printer":"virtual-1","data":${records}}`;
}

function values(name: string, template: TemplateName, value: string): Attack {
  return {
    name,
    run: async (target, { seconds, share }) => {
      const text = value.slice(0, Math.max(1, VALUE * share));
      const body = withRecords(
        target,
        JSON.stringify(Array.from({ length: 20 }, () => ({ v: text }))),
        template,
      );
      let crashed = 0;
      const seen = await loops(4, seconds, async (agent) => {
        const sent = { path: '/v2/jobs/validate', headers: target.jobHeaders(), body, agent };
        const reply = await target.send(sent);
        if (reply.status === 500 && !reply.text.includes('"code":"overloaded"')) crashed += 1;
        return reply;
      });
      const wrong = only(seen, 200, 400, 500, 503);
      return crashed === 0 ? wrong : [...wrong, `${crashed} answers 500 that do not say "overloaded"`];
    },
  };
}

/** Checks that the honest caller gets each answer within `most` ms while `other` goes on. @param large bytes of each request */
async function honestly(
  target: Target,
  other: Promise<unknown>,
  most: number,
  large?: number,
): Promise<string[]> {
  const wrong: string[] = [];
  let over = false;
  const ended = other.finally(() => {
    over = true;
  });
  while (!over) {
    const { status, ms } = await target.honestRequest(large);
    if (status !== 200) wrong.push(`the honest caller got ${status}`);
    if (ms > most) wrong.push(`the honest caller waited ${Math.round(ms)} ms`);
    await pause(50);
  }
  await ended;
  return wrong.slice(0, 5);
}

const junkForm = (index: number) =>
  `grant_type=client_credentials&client_id=pk_junk${index}&client_secret=sk_x`;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

export const ATTACKS: readonly Attack[] = [
  ...BY_STOLEN_AGENT,
  bodies('a number of zeros with a one at its end', [400], (length, target) =>
    withRecords(target, `[{"v":1${'0'.repeat(Math.min(length, 300_000))}1}]`),
  ),
  bodies('a number as long as the body', [400], (length, target) =>
    withRecords(target, `[{"v":${'7'.repeat(length)}}]`),
  ),
  bodies('exact numbers of 20 digits', [400], (length, target) =>
    withRecords(target, `[${filled('{"v":10000000000000000000},', length)}1]`),
  ),
  bodies('bad values without number', [400], (length, target) =>
    withRecords(
      target,
      `[{${Array.from({ length: length / 14 }, (_, index) => `"f${index}":[]`).join(',')}}]`,
    ),
  ),
  bodies('arrays without number', [400], (length, target) =>
    withRecords(target, `[${filled('[],', length)}1]`),
  ),
  bodies('unknown fields without number', [400], (length) => {
    return `{${Array.from({ length: length / 12 }, (_, index) => `"f${index}":1`).join(',')}}`;
  }),
  bodies('records of many fields that the template does not have', [200], (length, target) => {
    const record = `{${Array.from({ length: 50 }, (_, index) => `"f${index}":1`).join(',')},"v":"a"},`;
    return withRecords(target, `[${filled(record, Math.min(length, record.length * 9_000)).slice(0, -1)}]`);
  }),
  bodies('braces without an end', [400], (length) => filled('{"a":', length)),
  bodies('what is no UTF-8, nor JSON', [400], (length) => filled('\ufffd', length / 3)),

  values('wrapped emoji', 'wrapped', filled('👩‍👩‍👧‍👦', VALUE)),
  values('wrapped Devanagari', 'wrapped', filled('क्षत्रिय', VALUE)),
  values('digits that are multiplied', 'times', '7'.repeat(VALUE)),
  values('digits in thousands', 'thousands', '7'.repeat(VALUE)),
  values('a barcode of all that there is', 'qr', filled('aA1-', VALUE)),

  {
    name: 'slow readers of the documents',
    run: async (target, { seconds, share }) => {
      for (let reader = 0; reader < 300 * share; reader++) {
        await target.dial('GET /docs/js/scalar.js HTTP/1.1\r\nhost: x\r\naccept-encoding: identity\r\n\r\n');
      }
      return honestly(target, pause(seconds * 1000), 5_000);
    },
  },
  {
    name: 'halves of large bodies, from a caller who may send them',
    run: async (target, { seconds, share }) => {
      const head = Object.entries({ ...target.jobHeaders(), host: 'x', 'content-length': String(BODY) });
      const half = Buffer.concat([
        Buffer.from(
          `POST /v2/jobs HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
        ),
        Buffer.alloc(BODY * 0.9, ' '),
      ]);
      for (let caller = 0; caller < 200 * share; caller++) void target.dial(half);
      return honestly(target, pause(seconds * 1000), 5_000);
    },
  },
  {
    name: 'slow bodies of all accounts of a tenant, while another tenant sends large ones',
    run: async (target, { seconds, share }) => {
      for (const token of await target.moreAttackers(4)) {
        const headers = { ...target.jobHeaders(), authorization: `Bearer ${token}`, host: 'x' };
        const head = Object.entries({ ...headers, 'content-length': String(BODY) });
        for (let caller = 0; caller < 49 * share; caller++) {
          const lines = head.map(([name, value]) => `${name}: ${value}\r\n`).join('');
          void target.dial(`POST /v2/jobs HTTP/1.1\r\n${lines}\r\n`);
        }
      }
      const drip = setInterval(() => target.drip(), 200);
      try {
        return await honestly(target, pause(seconds * 1000), 5_000, 100_000);
      } finally {
        clearInterval(drip);
      }
    },
  },
  {
    name: 'halves of bodies and of headers, from nobody',
    run: async (target, { seconds, share }) => {
      for (let caller = 0; caller < 400 * share; caller++) {
        void target.dial(
          `POST /oauth/token HTTP/1.1\r\nhost: x\r\ncontent-length: 16000\r\ncontent-type: application/x-www-form-urlencoded\r\n\r\n${'a'.repeat(15_000)}`,
        );
        void target.dial(`GET / HTTP/1.1\r\nhost: x\r\n${filled('x: y\r\n', 12_000)}`);
      }
      return honestly(target, pause(seconds * 1000), 5_000);
    },
  },
  {
    name: 'more connections than there may be',
    run: async (target, { seconds, share }) => {
      for (let caller = 0; caller < 1_500 * share; caller++) void target.dial('GET /healthz HTTP/1.1\r\n');
      return honestly(target, pause(seconds * 1000), 5_000);
    },
  },
  {
    name: 'idle connections without number, while people look at the console',
    run: async (target, { seconds }) => {
      const tenants = Array.from({ length: 17 }, (_, index) => (index % 2 === 0 ? 'honest' : 'attacker'));
      const streams: (() => boolean)[] = [];
      for (const tenant of tenants) streams.push(await target.stream(tenant));
      for (let caller = 0; caller < 1_100; caller++) void target.dial('');
      const more = setInterval(() => {
        for (let caller = 0; caller < 30; caller++) void target.dial('');
      }, 100);
      try {
        const wrong = await honestly(target, pause(seconds * 1000), 5_000);
        const cut = streams.filter((isOpen) => !isOpen()).length;
        return cut === 0 ? wrong : [...wrong, `${cut} of ${streams.length} streams of the console were cut`];
      } finally {
        clearInterval(more);
      }
    },
  },
  {
    name: 'requests without number on one connection after the other, before an answer is read',
    run: async (target, { seconds, share }) => {
      const requests = filled('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n', 4 * 1024 * 1024 * share);
      const until = performance.now() + seconds * 1000;
      const caller = async () => {
        while (performance.now() < until) await target.dial(requests);
      };
      return honestly(target, Promise.all(Array.from({ length: 16 * share }, caller)), 5_000);
    },
  },
  {
    name: 'bodies that are too large, written before the answer is read',
    run: async (target, { seconds, share }) => {
      const body = Buffer.alloc(20 * 1024 * 1024 * share + BODY, ' ');
      const seen = await loops(4, seconds, (agent) =>
        target.send({ path: '/v2/jobs', headers: target.jobHeaders(), body, agent }),
      );
      return only(seen, 413);
    },
  },
  {
    name: 'junk at the token endpoint, while the right secret is sent from the same address',
    run: async (target, { seconds }) => {
      let junk = 0;
      const flood = loops(50, seconds, (agent) => {
        junk += 1;
        const headers = { ...FORM, 'x-forwarded-for': `203.0.113.${junk % 250}` };
        return target.send({ path: '/oauth/token', headers, body: junkForm(junk), agent });
      });
      const right = loops(2, seconds, (agent) =>
        target.send({ path: '/oauth/token', headers: FORM, body: tokenForm(target.honest), agent }),
      );
      const wrong = await honestly(target, Promise.all([flood, right]), 5_000);
      return [...wrong, ...only(await flood, 401, 429), ...only(await right, 200)];
    },
  },
  {
    name: 'wrong secrets for a key that is known',
    run: async (target, { seconds }) => {
      const flood = loops(50, seconds, (agent) =>
        target.send({
          path: '/oauth/token',
          headers: FORM,
          body: tokenForm(target.honest, 'sk_wrong'),
          agent,
        }),
      );
      const right = loops(1, seconds, (agent) =>
        target.send({ path: '/oauth/token', headers: FORM, body: tokenForm(target.honest), agent }),
      );
      return [...only(await flood, 401, 429), ...only(await right, 200)];
    },
  },
  {
    name: 'a hundred loops of valid credentials',
    run: async (target, { seconds, share }) => {
      const flood = loops(100 * share, seconds, (agent) =>
        target.send({ path: '/oauth/token', headers: FORM, body: tokenForm(target.attacker), agent }),
      );
      const wrong = await honestly(target, flood, 5_000);
      return [...wrong, ...only(await flood, 200)];
    },
  },
  {
    name: 'forged tokens',
    run: async (target, { seconds, share }) => {
      const [head, claims] = target.attackerToken.split('.');
      const seen = await loops(50 * share, seconds, (agent, caller, round) => {
        const authorization = `Bearer ${head}.${claims}.${Buffer.alloc(256, caller + round).toString('base64url')}`;
        return target.send({
          path: '/v2/jobs',
          headers: { ...target.jobHeaders(), authorization },
          body: '{}',
          agent,
        });
      });
      return only(seen, 401);
    },
  },
];
