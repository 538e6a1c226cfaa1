/** A whole Platen for tests of the console: a virtual printer, a mute printer, and a browser. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { buildConsole } from '../../../service/console.ts';
import { type Role, signInLink } from '../../../src/contract/people.ts';
import { labelRecord } from '../../../src/contract/print-request.ts';
import { webhookSecret, webhookTested } from '../../../src/contract/webhook.ts';
import { configureMutePrinter, MUTE } from '../service/mute-printer.ts';
import { PlatenUp, platen, temporaryDirectory } from '../service/platen.ts';
import { PASSWORD } from '../service/signed-in.ts';
import { type Look, openBrowser, openPage, openWindows, type Windows } from './browser.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** A name that a stranger may choose. A page that takes it for markup runs its script, which is a fault. */
export const HOSTILE = '<img src=x onerror="alert(1)">';

/** Fields that keep what is typed: a name, and a number with a zero in front. */
export const TEMPLATE = {
  name: 'Bin label',
  width: 60,
  height: 30,
  fields: [
    { name: 'article', sample: 'Hex bolt M8' },
    { name: 'number', sample: '00012345' },
  ],
  elements: [
    { type: 'text', x: 3, y: 3, width: 54, height: 8, size: 6, text: '{{article}}' },
    { type: 'barcode', x: 3, y: 13, symbology: 'code128', value: '{{number}}', height: 10, hri: 'below' },
  ],
};

export interface SiteOptions {
  /** The name of the mute printer. */
  mute?: string;
  /** For `platen up`, besides those of the two printers. */
  args?: string[];
  /** For a browser of its own, which is not shared. */
  flags?: string[];
  /** What a deployment turns on. */
  env?: Record<string, string>;
}

interface Running {
  up: PlatenUp;
  dataDir: string;
  browser: Windows;
  stack: AsyncDisposableStack;
}

export class ConsoleSite {
  /** What pages have complained of so far. */
  readonly faults: string[] = [];
  readonly #options: SiteOptions;
  #running: Running | undefined;
  #idT = '';
  #printers = new Map<string, string>();

  constructor(options: SiteOptions = {}) {
    this.#options = options;
  }

  static async start(options: SiteOptions = {}): Promise<ConsoleSite> {
    const site = new ConsoleSite(options);
    await site.start();
    return site;
  }

  async start(): Promise<void> {
    const { mute = MUTE, args = [], flags = [], env = {} } = this.#options;
    await buildConsole(ROOT);
    await using stack = new AsyncDisposableStack();
    const directory = stack.use(await temporaryDirectory());
    const dataDir = join(directory.path, 'data');
    const config = await configureMutePrinter(directory.path, mute);
    const up = await PlatenUp.start({
      dataDir,
      args: ['--virtual', '1', '--agent-config', config, ...args],
      env,
    });
    // Whichever runs by then.
    stack.defer(async () => void (await (this.#running?.up ?? up).stop()));
    await up.printerOnline(mute);
    const browser = flags.length === 0 ? await openWindows() : await openBrowser(flags);
    stack.defer(() => browser.close());
    this.#running = { up, dataDir, browser, stack: stack.move() };
  }

  get #now(): Running {
    if (this.#running === undefined) throw new Error('the site has not been started');
    return this.#running;
  }

  get up(): PlatenUp {
    return this.#now.up;
  }

  get dataDir(): string {
    return this.#now.dataDir;
  }

  get browser(): Windows {
    return this.#now.browser;
  }

  /** Starts the same installation again, with other printers and at another address. */
  async restart(args: string[]): Promise<void> {
    await this.up.stop();
    const { dataDir } = this;
    this.#now.up = await PlatenUp.start({ dataDir, args, env: this.#options.env ?? {} });
  }

  async stop(): Promise<void> {
    await this.#running?.stack.disposeAsync();
  }

  /**
   * Prints the first three records of a sample, whose templates were imported by `--samples`.
   * @param sample its file in `templates/`, without an ending
   */
  async printSample(sample: string, name: RegExp, printer: string): Promise<{ idT: string; job: string }> {
    const { admin } = this.up;
    const idT = (await admin.templates('default')).find((one) => name.test(one.name))?.id ?? '';
    const records: unknown = JSON.parse(
      await readFile(join(ROOT, 'templates', `${sample}.records.json`), 'utf8'),
    );
    // Records with letters for which the browser has no font make no picture to show.
    const data = z.array(labelRecord).parse(records).slice(0, 3);
    return { idT, job: await admin.print('default', { idT, printer, data }) };
  }

  /** A webhook of the tenant to which a test has been sent. @returns its ID */
  async webhook(url: string): Promise<string> {
    const { admin } = this.up;
    const { id } = await admin.webhooks(webhookSecret, 'POST', 'default', '', { url });
    await admin.webhooks(webhookTested, 'POST', 'default', `/${id}/test`);
    return id;
  }

  /** The link that `platen console` prints. */
  async link(): Promise<string> {
    const { stdout } = await platen(['console', '--data', this.dataDir, '--json']);
    return signInLink.parse(JSON.parse(stdout)).url;
  }

  /** A page of somebody who has followed that link. */
  async signedIn(look: Look = {}): Promise<Page> {
    const page = await openPage(this.browser, look, this.faults);
    await page.goto(await this.link());
    await page.locator('nav, .top').first().waitFor({ state: 'attached' });
    return page;
  }

  /** A page of somebody in this role who has accepted an invitation. */
  async invited(login: string, role: Role, look: Look = {}): Promise<Page> {
    const { url } = await this.up.admin.invite('default', { login, role });
    const page = await openPage(this.browser, look, this.faults);
    await page.goto(url);
    await page.getByLabel('Choose a password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Accept and sign in' }).click();
    await page.getByRole('heading', { name: 'Start' }).waitFor();
    return page;
  }

  /** Imports the template above, and learns the printers’ IDs. @returns a page of somebody who may do all with them */
  async withTemplate(): Promise<Page> {
    const { admin } = this.up;
    const { id } = await admin.importTemplate('default', TEMPLATE);
    this.#idT = id;
    this.#printers = new Map((await admin.printers()).map(({ id: printer, name }) => [name, printer]));
    return await this.signedIn();
  }

  /** The ID of the template above. */
  get idT(): string {
    return this.#idT;
  }

  /** A printer's ID by its name, as it stands in an address. */
  idOf(printer: string): string {
    return encodeURIComponent(this.#printers.get(printer) ?? '');
  }

  /** Prints a label of the template above for each of these numbers. @returns the job's ID */
  async print(printer: string, numbers: readonly string[], numberCopies = 1): Promise<string> {
    const data = numbers.map((number) => ({ article: 'Nut', number }));
    return await this.up.admin.print('default', { idT: this.#idT, printer, numberCopies, data });
  }

  /** Another page of the console, by its address. */
  async show(page: Page, address: string): Promise<void> {
    await page.goto(`${this.up.url}/console/#/${address}`);
    await page.locator('h1').waitFor();
    // Until its data has come, the page does not show its content.
    await page
      .getByText(/^(Loading|Lädt) …$/)
      .first()
      .waitFor({ state: 'detached' });
  }
}
