/**
 * `npm run bench:designer`: how it feels to draw, in Debian's Chromium at a whole Platen on this machine: the time of a
 * frame while an element is dragged on a full label, and from a key to the exact picture of what was typed.
 *
 *     npm run bench:designer [-- --frames 400 --keys 60]
 *
 * Chromium makes frames as fast as it can here, so that the time from one to the next is what a frame takes, and not the
 * pace of a screen.
 */
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { ConsoleSite } from '../test/kit/browser/console-site.ts';
import { table } from './figures.ts';
import { heading, machine } from './machine.ts';

const { values } = parseArgs({
  options: { frames: { type: 'string', default: '400' }, keys: { type: 'string', default: '60' } },
});
const FRAMES = Number(values.frames);
const KEYS = Number(values.keys);
/** p95, ms: a screen's frame at 60 a second; and what a person does not notice. */
const GOALS = { frame: 16, key: 100 };

const LABELS = ['gs1-logistic-4x6', 'shipping-4x6', 'ghs-chemical-100x70'];
const times = z.array(z.number()).min(1);

/** A frame a move: to and fro over the label, as far as there is room. */
const DRAG = `async ({ x, y, frames }) => {
  const canvas = document.querySelector('.canvas');
  const found = [];
  let before = await new Promise(requestAnimationFrame);
  for (let at = 0; at < frames; at += 1) {
    const by = 60 * Math.sin(at / 10);
    canvas.dispatchEvent(new PointerEvent('pointermove', {
      bubbles: true, pointerId: 1, clientX: x + by, clientY: y + by / 2 }));
    const now = await new Promise(requestAnimationFrame);
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

async function dragged(page: Page): Promise<number[]> {
  const box = await page.locator('.thing:not(.hollow)').first().boundingBox();
  if (box === null) throw new Error('there is nothing to drag');
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  const found = times.parse(await page.evaluate(`(${DRAG})(${JSON.stringify({ x, y, frames: FRAMES })})`));
  await page.keyboard.press('Escape');
  await page.mouse.up();
  // The first frames build what later ones move.
  return found.slice(10);
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

const site = await ConsoleSite.start({ flags: ['--disable-frame-rate-limit', '--disable-gpu-vsync'] });
try {
  const rows = [];
  for (const label of LABELS) {
    const page = await site.signedIn({ width: 1400, height: 1000 });
    const text = await readFile(new URL(`../templates/${label}.json`, import.meta.url), 'utf8');
    const { id } = await site.up.admin.importTemplate('default', JSON.parse(text));
    await site.show(page, `templates/${id}/design`);
    await page.locator('[data-drawn="true"]').waitFor();
    rows.push(row(`${label}: a frame while dragging`, await dragged(page), GOALS.frame));
    await page.locator('[data-drawn="true"]').waitFor();
    rows.push(row(`${label}: key to exact picture`, await typed(page), GOALS.key));
    await page.context().close();
  }
  console.log(`${heading(machine())}\n`);
  console.log(table([['ms', 'median', 'p95', 'most', 'goal (p95)', 'met'], ...rows]));
} finally {
  await site.stop();
}
