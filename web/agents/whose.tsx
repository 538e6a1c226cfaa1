/** Chooses the tenant whose printers an agent has. Only for people who may do what concerns all tenants. */
import type { Signal } from '@preact/signals';
import { z } from 'zod';
import { tenantView } from '../../src/contract/admin.ts';
import { ChoiceField } from '../controls/field.tsx';
import { useLive } from '../service/live.ts';
import { t } from '../texts/texts.ts';

/** The choice's value for all tenants; no tenant has this ID. */
export const EVERY = '';

export function Whose({ tenant }: { tenant: Signal<string> }) {
  const { agents: words } = t.value;
  const tenants = useLive(z.array(tenantView), '/tenants', () => false).live.data ?? [];
  return (
    <ChoiceField
      label={words.whose}
      value={tenant.value}
      options={[
        { value: EVERY, words: words.forAll },
        ...tenants.map(({ id, name }) => ({ value: id, words: name })),
      ]}
      onChoice={(value) => {
        tenant.value = value;
      }}
    />
  );
}
