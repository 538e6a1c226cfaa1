/** The frame of pages for people who are not signed in: a single card. */
import type { ComponentChildren } from 'preact';
import { t } from '../texts/texts.ts';

export function Alone({ children }: { children: ComponentChildren }) {
  const { product } = t.value.general;
  return (
    <main class="alone">
      <div class="alone-card">
        <div class="brand">
          <img src="icon.svg" alt="" />
          {product}
        </div>
        {children}
      </div>
    </main>
  );
}
