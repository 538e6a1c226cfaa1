/**
 * Draws the picture of a trace in `docs/pictures/` from the spans that a collector got. The job's printer ran out of paper.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { openPage, openWindows } from '../kit/browser/browser.ts';
import { Integrator, PlatenUp, temporaryDirectory } from '../kit/service/platen.ts';
import { smallLabel } from '../kit/service/small-label.ts';

const words = z.looseObject({
  stringValue: z.string().optional(),
  arrayValue: z.object({ values: z.array(z.object({ stringValue: z.string() })) }).optional(),
});
const attributes = z.array(z.object({ key: z.string(), value: words }));
const time = z.string().transform((text) => Number(BigInt(text) / 1_000n) / 1_000);
const spans = z.array(
  z.object({
    spanId: z.string(),
    parentSpanId: z.string().optional(),
    name: z.string(),
    startTimeUnixNano: time,
    endTimeUnixNano: time,
    events: z.array(z.object({ timeUnixNano: time, name: z.string(), attributes })).default([]),
  }),
);
const told = z.object({
  resourceSpans: z.array(
    z.object({ resource: z.object({ attributes }), scopeSpans: z.array(z.object({ spans })) }),
  ),
});
/** Times in ms. */
type Row = z.output<typeof spans>[number] & { service: string };

const COLOURS: Record<string, string> = {
  warehouse: '#8a5a00',
  platen: '#1f5fbf',
  'platen-agent': '#2b7a3d',
};

/** Does what `platen virtual fault` does, without the time that a program takes to start. */
async function virtualFault(socketPath: string, fault: string): Promise<void> {
  const asked = request({ socketPath, method: 'POST', path: `/?printer=virtual-1&fault=${fault}` }).end();
  const [answer] = await once(asked, 'response');
  answer.resume();
}

/** A job of 12 labels in a caller's trace. After some of them the printer is out of paper for a moment. */
async function tracedJob(): Promise<{ trace: string; rows: Row[] }> {
  const rows: Row[] = [];
  const collector = createServer(async (incoming, response) => {
    let body = '';
    for await (const chunk of incoming.setEncoding('utf8')) body += chunk;
    for (const { resource, scopeSpans } of told.parse(JSON.parse(body)).resourceSpans) {
      const service = resource.attributes[0]?.value.stringValue ?? '';
      rows.push(...scopeSpans.flatMap((scope) => scope.spans.map((one) => ({ ...one, service }))));
    }
    response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  await using directory = await temporaryDirectory();
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const up = await PlatenUp.start({
    dataDir: join(directory.path, 'data'),
    args: ['--virtual', '1'],
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint },
  });
  try {
    await up.printerOnline('virtual-1');
    const fault = (word: string) => virtualFault(join(up.dataDir, 'virtual.sock'), word);
    await fault('slow=600');
    const integrator = await Integrator.make(up);
    const { id: idT } = await up.admin.importTemplate('default', smallLabel('traced', ['number'], []));
    const data = Array.from({ length: 12 }, (_, n) => ({ number: String(n) }));
    const [trace, caller] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
    const began = Date.now();
    const answer = await integrator.request(
      '/v2/jobs',
      { idT, printer: 'virtual-1', data },
      { 'idempotency-key': caller, traceparent: `00-${trace}-${caller}-01` },
    );
    const [job = ''] = z.array(z.string()).parse(await answer.json());
    rows.push({
      ...{ spanId: caller, name: 'pack parcel 4711', service: 'warehouse', events: [] },
      ...{ startTimeUnixNano: began, endTimeUnixNano: Date.now() },
    });
    const signal = AbortSignal.timeout(300_000);
    const seen = async (is: (shown: Awaited<ReturnType<typeof up.admin.job>>) => boolean) => {
      while (!is(await up.admin.job(job))) await pause(50, undefined, { signal });
    };
    await seen(({ labels }) => labels.printed >= 4);
    await fault('media-empty');
    await seen(({ reasons }) => reasons.includes('media-empty'));
    // Long enough to be seen in the picture.
    await pause(2_000);
    await fault('clear');
    await up.ended(job);
    while (rows.length < 5) await pause(50, undefined, { signal });
    return { trace, rows };
  } finally {
    await up.stop();
    collector.closeAllConnections();
    collector.close();
  }
}

const length = (ms: number) => (ms < 1_000 ? `${ms.toFixed(0)} ms` : `${(ms / 1_000).toFixed(2)} s`);

function pageOf(trace: string, rows: Row[]): string {
  const from = Math.min(...rows.map((row) => row.startTimeUnixNano));
  const all = Math.max(...rows.map((row) => row.endTimeUnixNano)) - from;
  const at = (ms: number) => `${((100 * (ms - from)) / all).toFixed(3)}%`;
  const inOrder: [Row, number][] = [];
  const below = (parent: string | undefined, depth: number) => {
    for (const row of rows.filter((one) => one.parentSpanId === parent)) {
      inOrder.push([row, depth]);
      below(row.spanId, depth + 1);
    }
  };
  below(undefined, 0);
  const drawn = inOrder.map(([row, depth]) => {
    // The first event is the lowest, so that its words run below the lines of later ones.
    const events = row.events.map((event, n) => {
      const reasons = event.attributes.flatMap(({ value }) => value.arrayValue?.values ?? []);
      const why = reasons.map(({ stringValue }) => stringValue).join(', ') || 'nothing';
      const end = event.timeUnixNano > from + all * 0.85 ? ' end' : '';
      const said = event.name === 'waits' ? `waits: ${why}` : event.name;
      return `<i class="event${end}" style="left:${at(event.timeUnixNano)};--n:${row.events.length - 1 - n}"><u>${said}</u></i>`;
    });
    const width = `max(3px, ${((100 * (row.endTimeUnixNano - row.startTimeUnixNano)) / all).toFixed(3)}%)`;
    return `<tr style="--colour:${COLOURS[row.service]};--events:${events.length}"><th style="padding-left:${8 + 18 * depth}px">
      <b>${row.name}</b><small>${row.service}</small></th><td><div class="line">
      <span style="left:${at(row.startTimeUnixNano)};width:${width}"></span>
      <em style="--left:${at(row.startTimeUnixNano)};--right:${at(row.endTimeUnixNano)}">${length(row.endTimeUnixNano - row.startTimeUnixNano)}</em>
      ${events.join('')}</div></td></tr>`;
  });
  const step = [1, 2, 5, 10, 30].find((seconds) => all / seconds < 12_000) ?? 60;
  const ticks = Array.from({ length: Math.floor(all / step / 1_000) + 1 }, (_, n) => n * step);
  const scale = ticks.map((seconds) => `<i style="left:${at(from + 1_000 * seconds)}">${seconds} s</i>`);
  return `<!doctype html><style>
    body { font: 13px/1.3 "Noto Sans", sans-serif; color: #1b1f24; margin: 0; padding: 16px 20px; width: 1000px; box-sizing: border-box }
    h1 { font-size: 14px; margin: 0 0 10px } h1 code { font-weight: normal; color: #57606a }
    table { width: 100%; border-collapse: collapse; table-layout: fixed }
    th { text-align: left; width: 230px; font-weight: normal; vertical-align: top; padding: 7px 8px; border-left: 4px solid var(--colour, #fff) }
    th small { display: block; color: #57606a } td { padding: 7px 24px 7px 0; vertical-align: top }
    tr + tr { border-top: 1px solid #e3e6ea }
    .line { position: relative; height: calc(24px + 17px * var(--events)) }
    .line > span { position: absolute; top: 0; height: 20px; background: var(--colour); border-radius: 3px; opacity: .85 }
    .line > em { position: absolute; top: 1px; font-style: normal; color: #fff; right: calc(100% - var(--right) + 8px) }
    .line > em.short { color: #1b1f24; right: auto; left: calc(max(var(--right), var(--left) + 3px) + 6px) }
    .event { position: absolute; top: 0; width: 1px; height: calc(38px + 17px * var(--n)); background: #1b1f24 }
    .event u { position: absolute; left: 4px; bottom: -2px; white-space: nowrap; text-decoration: none; font-style: normal }
    .event.end u { left: auto; right: 4px }
    .scale { position: relative; height: 18px; color: #57606a } .scale i { position: absolute; font-style: normal }
  </style><h1>One job, one trace <code>${trace}</code></h1>
  <table><tr><th></th><td><div class="scale">${scale.join('')}</div></td></tr>${drawn.join('')}</table>
  <script>for (const em of document.querySelectorAll('em')) if (em.previousElementSibling.offsetWidth < 60) em.className = 'short';</script>`;
}

/** @param out the folder for the picture */
export async function tracePicture(out: string): Promise<void> {
  const { trace, rows } = await tracedJob();
  const windows = await openWindows();
  try {
    const page = await openPage(windows, { width: 1_000, height: 400 }, []);
    await page.setContent(pageOf(trace, rows));
    await page.screenshot({ path: join(out, 'trace.png'), fullPage: true });
  } finally {
    await windows.close();
  }
}

if (import.meta.main) {
  await tracePicture(process.argv[2] ?? join(import.meta.dirname, '../../docs/pictures'));
  process.exit();
}
