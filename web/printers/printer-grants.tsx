/** Says which workspaces may use a shared printer. Only for people who may do what concerns all tenants. */
import { useSignal } from '@preact/signals';
import { z } from 'zod';
import { tenantView } from '../../src/contract/admin.ts';
import { Ask } from '../controls/dialog.tsx';
import { Check, SeveralField } from '../controls/field.tsx';
import { Shown } from '../controls/page.tsx';
import { say } from '../controls/toast.tsx';
import { call } from '../service/call.ts';
import { useLive } from '../service/live.ts';
import { listed, t } from '../texts/texts.ts';
import { actionPath, type Printer } from './printer-words.tsx';

const tenantList = z.array(tenantView);

type Props = { printer: Printer; onDone: () => void; onClose: () => void };

export function PrinterGrants({ printer, onDone, onClose }: Props) {
  const { grants: words } = t.value.printers;
  const { live, reload } = useLive(tenantList, '/tenants', () => false);
  const granted = useSignal(printer.grantedTo ?? null);
  const run = async () => {
    const body = { tenants: granted.value };
    await call(z.unknown(), actionPath(printer, 'grants'), { method: 'PUT', body });
    say(words.done);
    onDone();
  };
  return (
    <Ask title={words.title} action={t.value.general.save} onClose={onClose} onAction={run}>
      <Check
        label={words.everyone}
        checked={granted.value === null}
        onCheck={(everyone) => {
          granted.value = everyone ? null : [];
        }}
      />
      {granted.value !== null && (
        <Shown of={live} onRetry={reload}>
          {(tenants) => (
            <SeveralField
              label={words.only}
              options={tenants.map(({ id, name }) => ({ value: id, words: name }))}
              chosen={granted.value ?? []}
              onChosen={(chosen) => {
                granted.value = chosen;
              }}
            />
          )}
        </Shown>
      )}
      {granted.value !== null && <p class="muted">{words.says}</p>}
    </Ask>
  );
}

/** The names of the workspaces that a shared printer is granted to. */
export function Granted({ to }: { to: readonly string[] }) {
  const { grants: words } = t.value.printers;
  const tenants = useLive(tenantList, '/tenants', () => false).live.data ?? [];
  const names = to.map((id) => tenants.find((one) => one.id === id)?.name ?? id);
  return <>{names.length === 0 ? words.none : words.to(listed(names))}</>;
}
