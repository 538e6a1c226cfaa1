/** The colour scheme: light, dark, or as the system has it. */
import { effect } from '@preact/signals';
import { kept } from '../address/kept.ts';

/** `light` or `dark`; empty: as the system has it. */
export const chosenColours = kept('colours');

export function followColours(): void {
  effect(() => {
    const { dataset } = document.documentElement;
    if (chosenColours.value === 'light' || chosenColours.value === 'dark')
      dataset['theme'] = chosenColours.value;
    else delete dataset['theme'];
  });
}
