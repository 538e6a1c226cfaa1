/**
 * `npm run bench:lists`: how long the queries of the console's pages take with a million jobs (lists, counts
 * by state, usage), and how many requests a second the service then accepts, beside a service without jobs.
 * The jobs are in the embedded PostgreSQL, for 50 printers and 40 templates over 390 days; one tenant has
 * nine in ten of them.
 *
 *     npm run bench:lists [-- --jobs 1000000]
 */
import { parseArgs } from 'node:util';
import { Client } from 'pg';
import { pino } from 'pino';
import { type JobFilter, jobCountFilter, jobFilter } from '../src/contract/job-search.ts';
import { migrate } from '../src/queue/index.ts';
import { JobList } from '../src/server/jobs/shown/job-list.ts';
import { startEmbedded } from '../src/server/store/embedded.ts';
import { createPool } from '../src/server/store/pool.ts';
import { PLATEN } from '../src/server/store/schema.ts';
import { countUsage, usageOf } from '../src/server/tenants/usage.ts';
import { temporaryDirectory } from '../test/kit/service/platen.ts';
import { table } from './figures.ts';
import { heading, machine } from './machine.ts';
import { postRates } from './post-rate.ts';

const { values } = parseArgs({ options: { jobs: { type: 'string', default: '1000000' } } });
const JOBS = Number(values.jobs);
const DAYS = 390;
const TIMES = 5;
const TURNS = 7;
/** ms */
const GOALS = { list: 20, page: 1_000 };

/** As in the console's address. A printer prints a fifth of the templates: Line 7 has Template 17, not 8. */
const QUERIES = [
  '',
  'tenant=acme',
  'tenant=acme&status=held',
  'tenant=acme&status=failed',
  'status=held,failed',
  'tenant=acme&printer=Line 7',
  'tenant=acme&printer=no such printer',
  'tenant=acme&template=Template 17',
  'tenant=acme&template=no such template',
  'tenant=acme&printer=Line 7&template=Template 17',
  'tenant=acme&printer=Line 7&template=Template 8',
  'tenant=acme&account=key-3&printer=Line 7',
  'tenant=acme&account=nobody',
  'tenant=acme&value=0000000000000000',
  'tenant=acme&value=0000000000000400',
  'tenant=acme&value=000000003b9aca07',
  'tenant=acme&value=ffffffffffffffff',
  'tenant=acme&value=0000000000000000&status=held',
  'tenant=acme&undecided=true',
  'tenant=acme&undecided=true&printer=Line 7',
  'tenant=acme&undecided=true&value=0000000000000000',
  'value=0000000000000000',
];

const on = machine();
await using stack = new AsyncDisposableStack();
const directory = stack.use(await temporaryDirectory());
const logger = pino({ level: 'error' });
const embedded = await startEmbedded({ dataDir: directory.path, logger });
stack.defer(() => embedded.stop());
await migrate(embedded.poolConfig, PLATEN);
const pool = createPool({ database: embedded.poolConfig, max: 4, logger });
// Not from the pool: its connections cancel a statement long before a million jobs are written.
const writer = new Client(embedded.poolConfig);
await writer.connect();
process.stderr.write(`Writing ${JOBS} jobs …\n`);
await writer.query(`INSERT INTO platen.tenants (id, name) VALUES ('acme', 'a'), ('globex', 'g')`);
await writer.query({
  text: `INSERT INTO platen.jobs (id, tenant_id, account, template_id, template_name, printer_id, printer_name, format,
      orientation, copies, records, status, created_at)
    SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text), 1, 3)
        || '8' || substr(md5(n::text), 4, 15))::uuid, CASE WHEN n % 10 = 9 THEN 'globex' ELSE 'acme' END, 'key-' || n % 7,
      'template-' || n % 40, 'Template ' || n % 40, 'serial-aaaaaaaa' || n / 8 % 50, 'Line ' || n / 8 % 50, '4×6',
      'portrait', 1, 1, CASE WHEN n % 1000 = 0 THEN 'held' ELSE 'printed' END, at
    FROM generate_series(1, $1) AS n
    CROSS JOIN LATERAL (SELECT now() - ($1 - n) * ($2 / $1::float8 * interval '1 day') AS at) AS accepted`,
  values: [JOBS, DAYS],
});
// Five values of each job, as if the data of all were kept: one is on every label, one on a thousandth.
await writer.query({
  text: `INSERT INTO platen.job_values (tenant_id, mark, created_at, job_id)
    SELECT j.tenant_id, CASE k WHEN 0 THEN 0 WHEN 1 THEN j.seq WHEN 2 THEN j.seq % 1000 + 1000000000 ELSE j.seq * k + 2000000000 END,
      j.created_at, j.id
    FROM platen.jobs j CROSS JOIN generate_series(0, 4) AS k ON CONFLICT DO NOTHING`,
});
await writer.query('VACUUM ANALYZE platen.jobs');
await writer.query('VACUUM ANALYZE platen.job_values');
await writer.end();
process.stderr.write('Asking …\n');

const rows: string[][] = [];
async function note(what: string, ask: () => Promise<unknown>, goal: number, times = TIMES): Promise<void> {
  const found: number[] = [];
  for (let time = 0; time < times; time += 1) {
    const began = performance.now();
    await ask();
    found.push(performance.now() - began);
  }
  const median = found.sort((a, b) => a - b)[times >> 1] ?? Number.NaN;
  rows.push([
    what,
    median.toFixed(1),
    (found.at(-1) ?? Number.NaN).toFixed(1),
    `${goal}`,
    median <= goal ? 'yes' : 'no',
  ]);
}

const list = new JobList(pool);
// How the IDs of an old job and of no job begin, which begin with their time.
const { rows: old } = await pool.query<{ id: string }>(
  `SELECT id FROM platen.jobs WHERE tenant_id = 'acme' ORDER BY created_at LIMIT 1 OFFSET $1`,
  [Math.round(JOBS / 10)],
);
const begun = [2, 3, 4, 6, 7, 8, 13].map((length) => `tenant=acme&id=${old[0]?.id.slice(0, length)}`);
for (const query of [...QUERIES, ...begun, 'tenant=acme&id=0a']) {
  const asked = Object.fromEntries(new URLSearchParams(query));
  const filter: JobFilter = jobFilter.parse(asked);
  await note(`list ?${query}`, () => list.page(filter), GOALS.list);
  if (filter.status === undefined && filter.undecided === undefined)
    await note(`counts ?${query}`, () => list.counts(jobCountFilter.parse(asked)), GOALS.page);
}
await note('usage of 366 days, not counted yet', () => usageOf(pool, 'acme', 366), GOALS.page, 1);
// A day at a time, as the service does.
for (let day = 0; day < DAYS; day += 1) await countUsage(pool);
await note('usage of 366 days', () => usageOf(pool, 'acme', 366), GOALS.page);
await note('usage of 30 days', () => usageOf(pool, 'acme', 30), GOALS.page);
await pool.end();
await embedded.stop();
process.stderr.write('Posting …\n');
const empty = stack.use(await temporaryDirectory());
const [full = Number.NaN, none = Number.NaN] = await postRates([directory.path, empty.path], TURNS);

console.log(`${heading(on)}\n`);
console.log(table([['ms', 'median', 'most', 'goal', 'met'], ...rows]));
console.log(`\nPOST accepted/s, 16 at a time: ${full} with ${JOBS} jobs, ${none} with none`);
