/** A real Prometheus scrapes a service and an agent, and its alerts fire; promtool judges what they say. */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { serviceFile } from '../../src/cli/which-service.ts';
import { SUPPLY_STEPS } from '../../src/contract/printer.ts';
import { webhookSecret } from '../../src/contract/webhook.ts';
import { type Ippeveprinter, startIppeveprinter } from '../kit/programs/ippeveprinter.ts';
import { Programs } from '../kit/programs/programs.ts';
import { type OpenBackend, onRedis } from '../kit/servers/backends.ts';
import { PlatenUp, platen } from '../kit/service/platen.ts';
import { RunningPrograms } from '../kit/service/running.ts';
import { useDirectory } from '../kit/service/use-directory.ts';
import { freePort } from '../kit/wire/listening.ts';

const MONITORING = join(import.meta.dirname, '../../service/monitoring');
const ALERTS = join(MONITORING, 'alerts.yaml');

const directory = useDirectory();
let backend: OpenBackend;
let up: PlatenUp;
let scraped: string;
let agentUrl: string;
let prometheus: string;
let template: string;
let eve: Ippeveprinter;
const agents = new RunningPrograms();
const programs = new Programs();

async function told(url: string): Promise<string> {
  const answer = await fetch(url);
  expect(answer.status).toBe(200);
  return await answer.text();
}

beforeAll(async () => {
  backend = await onRedis().open({ migrated: true });
  const env = {
    REDIS_URL: backend.redisUrl ?? '',
    PLATEN_QUEUE_PREFIX: backend.prefix,
    PLATEN_METRICS_PORT: '0',
    PLATEN_WEBHOOK_ALLOW: '127.0.0.0/8',
  };
  const dataDir = join(directory.path, 'data');
  up = await PlatenUp.start({
    dataDir,
    args: ['--virtual-speed', '100'],
    env: { ...env, DATABASE_URL: backend.databaseUrl ?? '' },
  });
  const file = serviceFile.parse(JSON.parse(await readFile(join(dataDir, 'service.json'), 'utf8')));
  scraped = file.metricsUrl ?? '';
  const port = await freePort();
  eve = await startIppeveprinter('none');
  const agent = agents.start(
    ['agent', '--data', join(directory.path, 'agent'), '--name', 'second', '--printer', eve.uri],
    { ...env, PLATEN_METRICS_PORT: String(port) },
  );
  await agent.until(() => /agent \S+ runs/.test(agent.said()));
  agentUrl = `http://127.0.0.1:${port}/metrics`;

  // The rules as they are, but for their patience.
  const rules = join(directory.path, 'alerts.yaml');
  writeFileSync(rules, readFileSync(ALERTS, 'utf8').replaceAll(/for: \d+m/g, 'for: 1s'));
  const config = join(directory.path, 'prometheus.yml');
  writeFileSync(
    config,
    JSON.stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [rules],
      scrape_configs: [
        { job_name: 'platen', static_configs: [{ targets: [new URL(scraped).host] }] },
        { job_name: 'platen-agent', static_configs: [{ targets: [`127.0.0.1:${port}`] }] },
      ],
    }),
  );
  const at = `127.0.0.1:${await freePort()}`;
  prometheus = `http://${at}`;
  const args = [
    `--config.file=${config}`,
    `--storage.tsdb.path=${join(directory.path, 'tsdb')}`,
    `--web.listen-address=${at}`,
  ];
  const server = programs.start('prometheus', args);
  await server.until(() => /Server is ready to receive web requests/.test(server.said()));
});
afterAll(async () => {
  await programs.end();
  await agents.end();
  await eve?.stop();
  await up?.stop();
  await backend?.close();
});

const answered = z.object({ status: z.string(), data: z.unknown() });
async function ask(path: string, query: Record<string, string> = {}): Promise<unknown> {
  const answer = await fetch(`${prometheus}/api/v1/${path}?${new URLSearchParams(query)}`);
  const { status, data } = answered.parse(await answer.json());
  expect(status, `${path} ${JSON.stringify(query)}`).toBe('success');
  return data;
}

async function until(isSo: () => Promise<boolean>, what: string): Promise<void> {
  const signal = AbortSignal.timeout(90_000);
  while (!(await isSo())) {
    if (signal.aborted) throw new Error(`in vain: ${what}`);
    await pause(250);
  }
}

async function value(query: string): Promise<number> {
  const data = z
    .object({ result: z.array(z.object({ value: z.tuple([z.number(), z.string()]) })) })
    .parse(await ask('query', { query }));
  return Number(data.result[0]?.value[1] ?? 'NaN');
}

const alerts = z.object({
  alerts: z.array(z.object({ labels: z.record(z.string(), z.string()), state: z.string() })),
});
async function fires(name: string, labels: Record<string, string> = {}): Promise<boolean> {
  const { alerts: all } = alerts.parse(await ask('alerts'));
  return all.some(
    (alert) =>
      alert.labels['alertname'] === name &&
      alert.state === 'firing' &&
      Object.entries(labels).every(([key, text]) => alert.labels[key] === text),
  );
}

test('promtool has nothing against metrics, rules and configuration', async () => {
  for (const url of [scraped, agentUrl]) {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: await told(url),
      encoding: 'utf8',
    });
    expect([status, stdout, stderr]).toEqual([0, '', '']);
  }
  const { status, stdout } = spawnSync('promtool', ['check', 'rules', ALERTS], { encoding: 'utf8' });
  expect(stdout).toContain('SUCCESS: 10 rules found');
  expect(status).toBe(0);
});

test('jobs, labels and printers are counted, and no series names one of them', async () => {
  await until(async () => (await value('up{job="platen-agent"}')) === 1, 'the agent is scraped');
  await up.printerOnline('virtual-1');
  const [printer] = await up.admin.printers();
  ({ id: template } = await up.admin.importTemplate('default', {
    name: 'Counted',
    width: 50,
    height: 25,
    elements: [{ type: 'text', x: 2, y: 2, width: 46, height: 5, text: 'counted', size: 3 }],
  }));
  const nobody = `https://127.0.0.1:${await freePort()}/`;
  await up.admin.webhooks(webhookSecret, 'POST', 'default', '', { url: nobody });
  const before = (await told(scraped)).split('\n').length;
  const jobs = [];
  for (const copies of [1, 2, 3]) {
    const jobId = await up.admin.print('default', {
      idT: template,
      printer: 'virtual-1',
      numberCopies: copies,
    });
    jobs.push(jobId);
    await up.ended(jobId);
  }
  await until(
    async () =>
      (await value('platen_jobs_ended_total{outcome="printed"}')) === 3 &&
      (await value('platen_labels_printed_total')) === 6,
    'three jobs with six labels',
  );
  expect(await value('platen_jobs_accepted_total')).toBe(3);
  expect(await value('platen_agent_jobs_ended_total{outcome="printed",job="platen"}')).toBe(3);
  expect(await value('platen_agent_first_byte_seconds_count{job="platen"}')).toBe(3);
  expect(await value('platen_job_duration_seconds_count{outcome="printed"}')).toBe(3);
  expect(await value('platen_job_duration_seconds_sum{outcome="printed"}')).toBeLessThan(60);
  expect(await value('sum(platen_printers)')).toBe(2);
  await until(async () => (await value('platen_printers{state="idle"}')) === 2, 'the printers at rest');
  expect(await value('platen_agents{state="online"}')).toBe(2);
  expect(await value('platen_database_up')).toBe(1);
  expect(await value('sum(platen_database_connections{state="idle"})')).toBeGreaterThan(0);
  await until(
    async () => (await value('platen_webhook_attempts_total{outcome="unanswered"}')) >= 3,
    'three messages that nobody took',
  );
  expect(await value('platen_webhook_attempts_total{outcome="taken"}')).toBe(0);
  const text = await told(scraped);
  expect(text.split('\n').length - before).toBeLessThan(60);
  for (const word of [...jobs, printer?.id ?? '', 'virtual-1', 'default', template])
    expect(text).not.toContain(word);
});

test('a printer that says how much is left is counted by its lowest supply, and shown with all of them', async () => {
  const printers = await up.admin.printers();
  const told = printers.find(({ uri }) => uri === eve.uri)?.supplies ?? [];
  // What the PWG's sample printer has built in.
  expect(told).toEqual([
    { name: 'Toner Waste Tank', left: 25 },
    { name: 'Black Toner', left: 75 },
  ]);
  const lowest = Math.min(...told.map(({ left }) => left));
  for (const of of ['platen_printers', 'platen_agent_printers']) {
    for (const percent of SUPPLY_STEPS) {
      // Of the two agents one has it; and what the service lists, that agent may not have been asked for since.
      const counted = () => value(`max(${of}_with_supply_at_most{percent="${percent}",job!=""})`);
      const due = lowest <= percent ? 1 : 0;
      await until(async () => (await counted()) === due, `${of} with ${percent} % at most are ${due}`);
    }
  }
});

test('every query of the dashboard and of the rules asks for what there is', async () => {
  const dashboard = z
    .object({
      uid: z.string(),
      panels: z.array(
        z.object({ id: z.int(), title: z.string(), targets: z.array(z.object({ expr: z.string() })).min(1) }),
      ),
    })
    .parse(JSON.parse(readFileSync(join(MONITORING, 'grafana-dashboard.json'), 'utf8')));
  const asked = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
  expect(asked.length).toBeGreaterThan(15);
  for (const query of asked) await ask('query', { query });
  const known = new Set(
    [...`${await told(scraped)}${await told(agentUrl)}`.matchAll(/^(\w+)/gm)].map(([name]) => name),
  );
  const used = `${asked.join('\n')}\n${readFileSync(ALERTS, 'utf8')}`.matchAll(/\b(?:platen|nodejs)_\w+/g);
  for (const [name] of used) expect(known).toContain(name);
});

test('an alert fires when a printer is out of labels, and ends when it has some', async () => {
  const fault = (word: string) =>
    platen(['virtual', 'fault', 'virtual-1', word, '--data', up.dataDir], {}).then(({ code }) => code);
  expect(await fires('PlatenPrinterNeedsSomebody')).toBe(false);
  expect(await fault('media-empty')).toBe(0);
  // The agent looks at a printer at rest now and then, and at one that is to print at once.
  const job = await up.admin.print('default', { idT: template, printer: 'virtual-1' });
  const reason = { reason: 'media-empty' };
  await until(() => fires('PlatenPrinterNeedsSomebody', reason), 'the alert');
  expect(await fault('clear')).toBe(0);
  expect((await up.ended(job)).status).toBe('printed');
  await until(async () => !(await fires('PlatenPrinterNeedsSomebody')), 'the end of the alert');
});

test('an agent that stops is missed, and the scrape of it says so', async () => {
  await agents.end();
  await until(() => fires('PlatenDown', { job: 'platen-agent' }), 'the agent is down');
  await until(() => fires('PlatenAgentAway'), 'one agent fewer');
});
