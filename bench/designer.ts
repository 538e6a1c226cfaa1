/**
 * `npm run bench:designer`: how quickly the designer responds, in Debian's Chromium with a whole Platen on
 * this machine: the work for each frame while an element is dragged on a full label, and the time from a key
 * to the exact picture of what was typed.
 *
 *     npm run bench:designer [-- --frames 400 --keys 60 --label 'font and photograph']
 *
 * The work for a frame is the CPU time of the page's own thread (script, style, layout and paint) from
 * Chromium's trace, which other load on the machine does not change. The time from one frame to the next is
 * shown beside it. Chromium makes frames as fast as it can here, not at a screen's rate; drawing without a
 * graphics card is included.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { parseArgs } from 'node:util';
import { createCanvas } from '@napi-rs/canvas';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { ConsoleSite } from '../test/kit/browser/console-site.ts';
import { table } from './figures.ts';
import { heading, machine } from './machine.ts';

const { values } = parseArgs({
  options: {
    frames: { type: 'string', default: '400' },
    keys: { type: 'string', default: '60' },
    label: { type: 'string' },
  },
});
const FRAMES = Number(values.frames);
const KEYS = Number(values.keys);
/** p95, ms: one frame of a screen at 60 Hz; and a delay that a person does not notice. */
const GOALS = { frame: 16, key: 100 };

const LABELS = ['gs1-logistic-4x6', 'shipping-4x6', 'ghs-chemical-100x70'];
/** More elements than almost any real label has. */
const CROWDED = {
  name: 'Crowded label',
  width: 101.6,
  height: 152.4,
  elements: Array.from({ length: 200 }, (_, at) => ({
    type: 'text',
    x: 2 + (at % 10) * 9.8,
    y: 2 + Math.floor(at / 10) * 7.4,
    width: 9,
    height: 5,
    size: 3,
    text: `No ${at}`,
  })),
};
/** A label with files: three faces of a font, 650 KB, and a photograph of 1,600 × 1,200 pixels. */
const WITH_FILES = {
  name: 'Label with files',
  width: 101.6,
  height: 152.4,
  images: [{ name: 'photograph', data: photograph() }],
  fonts: await Promise.all(
    [
      ['400Regular', 'Regular'],
      ['600SemiBold', 'SemiBold'],
      ['700Bold', 'Bold'],
    ].map(async ([folder, style]) => ({
      name: `Own ${style}`,
      data: await fontFile(`${folder}/NotoSansDevanagari_${folder}.ttf`),
    })),
  ),
  elements: [
    { type: 'text', x: 4, y: 4, width: 90, height: 9, text: 'Espresso 1 kg', size: 7, font: 'Own Bold' },
    { type: 'text', x: 4, y: 14, width: 90, height: 9, text: 'Espresso 1 kg', size: 7, font: 'Own Regular' },
    { type: 'text', x: 4, y: 24, width: 90, height: 9, text: 'Espresso 1 kg', size: 7, font: 'Own SemiBold' },
    { type: 'image', x: 4, y: 40, width: 90, height: 67.5, image: 'photograph', halftone: 'dither' },
  ],
};

/** As full of detail as a photograph, so that it is as large: a JPEG, base64. */
function photograph(): string {
  const canvas = createCanvas(1_600, 1_200);
  const context = canvas.getContext('2d');
  const pixels = context.createImageData(canvas.width, canvas.height);
  let seed = 1;
  for (let at = 0; at < pixels.data.length; at += 1) {
    seed = (seed * 48_271) % 2_147_483_647;
    const [x, y] = [(at >> 2) % canvas.width, Math.floor((at >> 2) / canvas.width)];
    pixels.data[at] = at % 4 === 3 ? 255 : 128 + 90 * Math.sin(x / 70) * Math.cos(y / 50) + (seed % 32);
  }
  context.putImageData(pixels, 0, 0);
  return canvas.toBuffer('image/jpeg', 75).toString('base64');
}

async function fontFile(name: string): Promise<string> {
  const file = createRequire(import.meta.url).resolve(`@expo-google-fonts/noto-sans-devanagari/${name}`);
  return await readFile(file, 'base64');
}

const times = z.array(z.number()).min(1);
const trace = z.object({
  traceEvents: z.array(
    z.object({
      name: z.string(),
      pid: z.number(),
      tid: z.number(),
      ts: z.number(),
      tdur: z.number().optional(),
    }),
  ),
});

/** Moves the pointer to and fro over the label, one move a frame; returns the times between frames, ms. */
const DRAG = `async ({ x, y, frames }) => {
  const canvas = document.querySelector('.canvas');
  const found = [];
  let before = await new Promise(requestAnimationFrame);
  performance.mark('drag-frame');
  for (let at = 0; at < frames; at += 1) {
    const by = 60 * Math.sin(at / 10);
    canvas.dispatchEvent(new PointerEvent('pointermove', {
      bubbles: true, pointerId: 1, clientX: x + by, clientY: y + by / 2 }));
    const now = await new Promise(requestAnimationFrame);
    performance.mark('drag-frame');
    found.push(now - before);
    before = now;
  }
  return found;
}`;

/** Notes when a key went down, and when the frame with its exact picture was made. */
const WATCH = `() => {
  window.keyTimes = [];
  let since;
  let told = () => {};
  window.keyDrawn = () => new Promise((resolve) => { told = resolve; });
  addEventListener('keydown', (event) => { since = event.timeStamp; }, true);
  const look = async () => {
    const status = document.querySelector('[data-drawn]');
    if (since === undefined || status?.dataset.drawn !== 'true') return;
    const from = since;
    since = undefined;
    await document.querySelector('.canvas image.dots').decode?.();
    await new Promise(requestAnimationFrame);
    await new Promise(requestAnimationFrame);
    window.keyTimes.push(performance.now() - from);
    told();
  };
  let was = 'true';
  new MutationObserver(() => {
    const is = document.querySelector('[data-drawn]')?.dataset.drawn;
    if (is === 'true' && was === 'false') void look();
    was = is;
  }).observe(document.body, { subtree: true, childList: true, attributes: true, attributeFilter: ['data-drawn'] });
}`;

/** ms from frame to frame, and ms of CPU that the page's own thread took for each. */
async function dragged(page: Page): Promise<{ frames: number[]; work: number[] }> {
  const box = await page.locator('.thing:not(.hollow)').first().boundingBox();
  if (box === null) throw new Error('there is nothing to drag');
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  const browser = page.context().browser();
  if (browser === null) throw new Error('the page has no browser');
  await browser.startTracing(page, { categories: ['toplevel', 'blink.user_timing'] });
  const found = times.parse(await page.evaluate(`(${DRAG})(${JSON.stringify({ x, y, frames: FRAMES })})`));
  const work = workOf(await browser.stopTracing());
  await page.keyboard.press('Escape');
  await page.mouse.up();
  // The first frames build what later ones move.
  return { frames: found.slice(10), work: times.parse(work.slice(10)) };
}

/** CPU time of the thread that made the marks, between one mark and the next, ms. */
function workOf(recorded: Buffer): number[] {
  const { traceEvents } = trace.parse(JSON.parse(recorded.toString()));
  const marks = traceEvents.filter(({ name }) => name === 'drag-frame').sort((a, b) => a.ts - b.ts);
  const [{ pid, tid } = { pid: -1, tid: -1 }] = marks;
  const tasks = traceEvents.filter(
    (event) => event.pid === pid && event.tid === tid && event.name === 'ThreadControllerImpl::RunTask',
  );
  return marks.slice(1).map((mark, at) => {
    const from = marks[at]?.ts ?? mark.ts;
    const own = tasks.filter(({ ts }) => ts >= from && ts < mark.ts);
    return own.reduce((sum, { tdur = 0 }) => sum + tdur, 0) / 1_000;
  });
}

async function typed(page: Page): Promise<number[]> {
  const text = page.locator('.thing[aria-label^="Text"]').first();
  await text.blur();
  await text.focus();
  await page.locator('.side-panel textarea').first().focus();
  await page.keyboard.press('End');
  await page.evaluate(`(${WATCH})()`);
  for (let at = 0; at < KEYS; at += 1) {
    const seen = page.evaluate('window.keyDrawn()');
    await page.keyboard.press(at % 2 === 0 ? 'x' : 'Backspace');
    await seen;
  }
  return times.parse(await page.evaluate('window.keyTimes')).slice(5);
}

function row(name: string, found: readonly number[], goal: number): string[] {
  const sorted = found.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
  const ms = (share: number) => at(share).toFixed(1);
  return [name, ms(0.5), ms(0.95), ms(1), `${goal}`, at(0.95) <= goal ? 'yes' : 'no'];
}

async function templateOf(label: string): Promise<unknown> {
  if (label === '200 elements') return CROWDED;
  if (label === 'font and photograph') return WITH_FILES;
  return JSON.parse(await readFile(new URL(`../templates/${label}.json`, import.meta.url), 'utf8'));
}

const site = await ConsoleSite.start({ flags: ['--disable-frame-rate-limit', '--disable-gpu-vsync'] });
try {
  const rows = [];
  for (const label of [...LABELS, '200 elements', 'font and photograph']) {
    if (values.label !== undefined && values.label !== label) continue;
    const page = await site.signedIn({ width: 1400, height: 1000 });
    const template = await templateOf(label);
    const { id } = await site.up.admin.importTemplate('default', template);
    await site.show(page, `templates/${id}/design`);
    await page.locator('[data-drawn="true"]').waitFor();
    const { frames, work } = await dragged(page);
    rows.push(row(`${label}: work for a frame while dragging`, work, GOALS.frame));
    rows.push([...row(`${label}: from frame to frame`, frames, GOALS.frame).slice(0, 4), '', '']);
    await page.locator('[data-drawn="true"]').waitFor();
    rows.push(row(`${label}: key to exact picture`, await typed(page), GOALS.key));
    await page.context().close();
  }
  console.log(`${heading(machine())}\n`);
  console.log(table([['ms', 'median', 'p95', 'most', 'goal (p95)', 'met'], ...rows]));
} finally {
  await site.stop();
}
