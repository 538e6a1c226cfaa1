/** Says which workspaces may use a shared printer. Only for people who may do what concerns all tenants. */
import { useSignal } from '@preact/signals';
import { z } from 'zod';
import { tenantView } from '../../src/contract/admin.ts';
import { Ask } from '../controls/dialog.tsx';
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
      <label class="check">
        <input
          type="checkbox"
          checked={granted.value === null}
          onChange={({ currentTarget }) => {
            granted.value = currentTarget.checked ? null : [];
          }}
        />
        {words.everyone}
      </label>
      {granted.value !== null && (
        <Shown of={live} onRetry={reload}>
          {(tenants) => (
            <fieldset>
              <legend class="label">{words.only}</legend>
              {tenants.map(({ id, name }) => (
                <label key={id} class="check">
                  <input
                    type="checkbox"
                    checked={granted.value?.includes(id) ?? false}
                    onChange={({ currentTarget: { checked } }) => {
                      const others = granted.value?.filter((one) => one !== id) ?? [];
                      granted.value = checked ? [...others, id] : others;
                    }}
                  />
                  {name}
                </label>
              ))}
            </fieldset>
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
