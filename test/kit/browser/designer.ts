/** The designer, in a page of a console. */
import type { Locator, Page } from 'playwright-core';
import { z } from 'zod';
import type { ConsoleSite } from './console-site.ts';

/** Waits until the picture is that of the label as it is now. */
export async function labelDrawn(page: Page): Promise<void> {
  await page.locator('[data-drawn="true"]').waitFor();
}

/** Imports a template and opens it in the designer. @returns its ID */
export async function design(site: ConsoleSite, page: Page, template: unknown): Promise<string> {
  const { id } = await site.up.admin.importTemplate('default', template);
  await site.show(page, `templates/${id}/design`);
  await labelDrawn(page);
  return id;
}

const saved = z.object({
  template: z.looseObject({ elements: z.array(z.looseObject({ type: z.string() })) }),
});

export async function savedTemplate(site: ConsoleSite, id: string) {
  return saved.parse(await site.up.admin.template('default', id)).template;
}

/** An element on the canvas, by what it is called to a screen reader. */
export function thing(page: Page, name: RegExp): Locator {
  return page.locator('.thing').and(page.getByRole('button', { name }));
}
