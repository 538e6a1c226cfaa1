/**
 * The attacks that strangers, and callers with credentials, may try. Each sends as much as the service lets
 * in, and is itself limited in time and count. It returns what it found wrong; `/healthz` and the memory are
 * watched by siege.ts.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { AT_IPP } from './at-ipp.ts';
import { BOMBS } from './bombs.ts';
import { type Attack, filled, honestly, loops, only } from './callers.ts';
import { BY_NEIGHBOURS } from './neighbours.ts';
import { BY_PROVIDER } from './sign-ins.ts';
import { BY_STOLEN_AGENT } from './stolen-agent.ts';
import { type Target, type TemplateName, tokenForm } from './target.ts';

const BODY = 5 * 1024 * 1024 - 200;
const VALUE = 32_000;

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
      const seen = await loops(4, seconds, (agent) =>
        target.send({ path: '/v2/jobs/validate', headers: target.jobHeaders(), body, agent }),
      );
      return only(seen, 200, 400, '500 overloaded', 503);
    },
  };
}

const junkForm = (index: number) =>
  `grant_type=client_credentials&client_id=pk_junk${index}&client_secret=sk_x`;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

export const ATTACKS: readonly Attack[] = [
  ...BOMBS,
  ...AT_IPP,
  ...BY_NEIGHBOURS,
  ...BY_PROVIDER,
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
    run: async (target, { seconds, share, patience }) => {
      for (let reader = 0; reader < 300 * share; reader++) {
        await target.dial('GET /docs/js/scalar.js HTTP/1.1\r\nhost: x\r\naccept-encoding: identity\r\n\r\n');
      }
      return honestly(target, pause(seconds * 1000), patience);
    },
  },
  {
    name: 'halves of large bodies, from a caller who may send them',
    run: async (target, { seconds, share, patience }) => {
      const head = Object.entries({ ...target.jobHeaders(), host: 'x', 'content-length': String(BODY) });
      const half = Buffer.concat([
        Buffer.from(
          `POST /v2/jobs HTTP/1.1\r\n${head.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`,
        ),
        Buffer.alloc(BODY * 0.9, ' '),
      ]);
      for (let caller = 0; caller < 200 * share; caller++) void target.dial(half);
      return honestly(target, pause(seconds * 1000), patience);
    },
  },
  {
    name: 'slow bodies of all accounts of a tenant, while another tenant sends large ones',
    run: async (target, { seconds, share, patience }) => {
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
        return await honestly(target, pause(seconds * 1000), patience, 100_000);
      } finally {
        clearInterval(drip);
      }
    },
  },
  {
    name: 'halves of bodies and of headers, from nobody',
    run: async (target, { seconds, share, patience }) => {
      for (let caller = 0; caller < 400 * share; caller++) {
        void target.dial(
          `POST /oauth/token HTTP/1.1\r\nhost: x\r\ncontent-length: 16000\r\ncontent-type: application/x-www-form-urlencoded\r\n\r\n${'a'.repeat(15_000)}`,
        );
        void target.dial(`GET / HTTP/1.1\r\nhost: x\r\n${filled('x: y\r\n', 12_000)}`);
      }
      return honestly(target, pause(seconds * 1000), patience);
    },
  },
  {
    name: 'more connections than there may be',
    run: async (target, { seconds, share, patience }) => {
      for (let caller = 0; caller < 1_500 * share; caller++) void target.dial('GET /healthz HTTP/1.1\r\n');
      return honestly(target, pause(seconds * 1000), patience);
    },
  },
  {
    name: 'idle connections without number, while people look at the console',
    run: async (target, { seconds, patience }) => {
      const tenants = Array.from({ length: 17 }, (_, index) => (index % 2 === 0 ? 'honest' : 'attacker'));
      const streams: (() => boolean)[] = [];
      for (const tenant of tenants) streams.push(await target.stream(tenant));
      for (let caller = 0; caller < 1_100; caller++) void target.dial('');
      const more = setInterval(() => {
        for (let caller = 0; caller < 30; caller++) void target.dial('');
      }, 100);
      try {
        const wrong = await honestly(target, pause(seconds * 1000), patience);
        const cut = streams.filter((isOpen) => !isOpen()).length;
        return cut === 0 ? wrong : [...wrong, `${cut} of ${streams.length} streams of the console were cut`];
      } finally {
        clearInterval(more);
      }
    },
  },
  {
    name: 'requests without number on one connection after the other, before an answer is read',
    run: async (target, { seconds, share, patience }) => {
      const requests = filled('GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n', 4 * 1024 * 1024 * share);
      const until = performance.now() + seconds * 1000;
      const caller = async () => {
        while (performance.now() < until) await target.dial(requests);
      };
      return honestly(target, Promise.all(Array.from({ length: 16 * share }, caller)), patience);
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
    run: async (target, { seconds, patience }) => {
      let junk = 0;
      const flood = loops(50, seconds, (agent) => {
        junk += 1;
        const headers = { ...FORM, 'x-forwarded-for': `203.0.113.${junk % 250}` };
        return target.send({ path: '/oauth/token', headers, body: junkForm(junk), agent });
      });
      const right = loops(2, seconds, (agent) =>
        target.send({ path: '/oauth/token', headers: FORM, body: tokenForm(target.honest), agent }),
      );
      const wrong = await honestly(target, Promise.all([flood, right]), patience);
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
    run: async (target, { seconds, share, patience }) => {
      const flood = loops(100 * share, seconds, (agent) =>
        target.send({ path: '/oauth/token', headers: FORM, body: tokenForm(target.attacker), agent }),
      );
      const wrong = await honestly(target, flood, patience);
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
