/** The settings that a language declares for its printers: a format may have each, and each has an effect. */
import { describe, expect, test } from 'vitest';
import { LANGUAGES, openEncoder } from '../../drivers/languages/index.ts';
import { languageId, printerFormat } from '../../src/contract/format.ts';
import { admits, admitted, commonLimits, settingName } from '../../src/contract/print-settings.ts';
import { design, jobFor } from '../kit/judges/judges.ts';

const job = jobFor(design(50, 25, [{ type: 'text', x: 20, y: 10, size: 5, text: 'x' }]), [{}]);

async function sent(settings: object): Promise<string> {
  const format = printerFormat.parse({ ...job.format, ...settings });
  const encoder = await openEncoder({ ...job, format });
  return Buffer.concat([encoder.begin(), await encoder.label(0, 1), encoder.end()]).toString('latin1');
}

describe.each(languageId.options)('%s', (language) => {
  const limits = LANGUAGES[language].settings ?? {};
  const named = settingName.options.filter((name) => limits[name] !== undefined);

  test.each(named)('%s', async (name) => {
    const limit = limits[name];
    if (limit === undefined) throw new Error('no limit');
    const numbers = ({ from, step }: { from: number; step: number }) =>
      [0, 1, 2].map((steps) => Math.max(from, 0) + steps * step);
    const values = 'from' in limit ? numbers(limit) : limit;
    const each = await Promise.all(values.map((value) => sent({ language, [name]: value })));
    expect(new Set([await sent({ language }), ...each]).size).toBeGreaterThanOrEqual(values.length);
    for (const value of values) expect(admits(limits, name, value)).toBe(true);
    if ('from' in limit) {
      for (const value of [limit.from, limit.to]) expect(admits(limits, name, value)).toBe(true);
      const beyond = [limit.from - limit.step, limit.to + limit.step, limit.from + limit.step / 2];
      expect(beyond.map((value) => admits(limits, name, value))).toEqual([false, false, false]);
    } else expect(admits(limits, name, 'folded')).toBe(false);
  });

  test('nothing else does', () => {
    const others = settingName.options.filter((name) => limits[name] === undefined);
    const settings = { darkness: 3, labelTop: 1, thermalMode: 'direct' } as const;
    expect(Object.keys(admitted(limits, settings))).toEqual(
      Object.keys(settings).filter((name) => !others.map(String).includes(name)),
    );
  });
});

test('of several languages, what all that have it take', () => {
  const [zpl, tspl, epl, pdf] = [LANGUAGES.zpl, LANGUAGES.tspl, LANGUAGES.epl, LANGUAGES.pdf].map(
    ({ settings = {} }) => settings,
  );
  expect(commonLimits([zpl ?? {}, pdf ?? {}])).toEqual(zpl);
  expect(commonLimits([zpl ?? {}, tspl ?? {}, epl ?? {}])).toMatchObject({
    darkness: { from: 0, to: 15, step: 1 },
    speed: { from: 1, to: 6, step: 1 },
    printMode: ['tear-off', 'peel-off', 'rewind', 'cutter'],
  });
  expect(commonLimits([])).toEqual({});
});
