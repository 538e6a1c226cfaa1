/** The label that goes to every printer of a site, and its ZPL as `platen render` makes it. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { platen } from '../service/platen.ts';

export const LABEL = {
  name: 'Site',
  width: 101.6,
  height: 152.4,
  fields: [{ name: 'id' }],
  elements: [
    { type: 'text', x: 5, y: 5, width: 90, height: 8, text: 'Sample {{id}}', size: 6 },
    { type: 'barcode', symbology: 'qr', value: '{{id}}', x: 20, y: 30, module: 1 },
    { type: 'barcode', symbology: 'code128', value: '{{id}}', x: 10, y: 90, height: 20, module: 0.375 },
  ],
};
export const RECORD = { id: 'S-0042' };

/** Renders the label to ZPL; returns the file that it was written to. */
export async function renderSiteLabel(directory: string): Promise<string> {
  const place = (name: string) => join(directory, name);
  writeFileSync(place('label.json'), JSON.stringify(LABEL));
  writeFileSync(place('data.json'), JSON.stringify([RECORD]));
  const out = place('label.zpl');
  const args = [place('label.json'), '--data', place('data.json'), '--to', 'zpl', '--out', out];
  const { code, stderr } = await platen(['render', ...args]);
  if (code !== 0) throw new Error(stderr);
  return out;
}
