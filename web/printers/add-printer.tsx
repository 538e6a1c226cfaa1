/** Printers that people add by address: the dialog, which says whether the printer is reached, and the list of them. */
import { useSignal } from '@preact/signals';
import { z } from 'zod';
import { type AddedPrinterView, addedPrinterView } from '../../src/contract/added-printer.ts';
import { type AgentView, agentView } from '../../src/contract/agent-view.ts';
import { languageId } from '../../src/contract/format.ts';
import { to } from '../address/place.ts';
import { AskToEnd } from '../controls/asks.tsx';
import { CardTable } from '../controls/card-table.tsx';
import { Ask, Dialog } from '../controls/dialog.tsx';
import { ChoiceField, TextField, typed } from '../controls/field.tsx';
import { sets } from '../controls/sets.ts';
import { Time } from '../controls/time.tsx';
import { call } from '../service/call.ts';
import { useLive } from '../service/live.ts';
import { may, session } from '../service/session.ts';
import { t } from '../texts/texts.ts';

const ADDRESSES = '/printers/addresses';
const list = z.array(addedPrinterView);

/**
 * Whether this person may add printers to the agent: not to one that is revoked, and to a shared one only where they may do what
 * concerns all tenants.
 */
const mayTell = ({ tenant, version, enrolled }: AgentView) =>
  (tenant === null ? may('deployment') : tenant === session.value?.tenant.id) &&
  version !== null &&
  !enrolled?.revokedAt;

export function AddPrinter({ onClose }: { onClose: () => void }) {
  const added = useSignal<AddedPrinterView | null>(null);
  return added.value === null ? (
    <Address
      onClose={onClose}
      onAdded={(one) => {
        added.value = one;
      }}
    />
  ) : (
    <Outcome added={added.value} onClose={onClose} />
  );
}

type AddressProps = { onClose: () => void; onAdded: (added: AddedPrinterView) => void };

function Address({ onClose, onAdded }: AddressProps) {
  const { added: words } = t.value;
  const agents = useLive(z.array(agentView), '/agents').live.data?.filter(mayTell);
  const chosen = useSignal('');
  const address = useSignal('');
  const name = useSignal('');
  const language = useSignal('');
  const said = { dpi: useSignal(''), width: useSignal(''), height: useSignal('') };
  const agent = agents?.find(({ id }) => id === chosen.value) ?? agents?.[0];
  // `Ask` closes after its action. Once the printer is added, that must not close the dialog that says what becomes of it.
  const isAdded = useSignal(false);
  return (
    <Ask
      title={words.title}
      action={words.add}
      disabled={agent === undefined || address.value.trim() === ''}
      onClose={() => {
        if (!isAdded.value) onClose();
      }}
      onAction={async () => {
        const body = {
          agent: agent?.id,
          address: address.value.trim(),
          ...(name.value.trim() !== '' && { name: name.value.trim() }),
          ...(language.value !== '' && { language: language.value }),
          ...Object.fromEntries(
            Object.entries(said).flatMap(([key, { value }]) => (value === '' ? [] : [[key, Number(value)]])),
          ),
        };
        const made = await call(addedPrinterView, ADDRESSES, { body });
        isAdded.value = true;
        onAdded(made);
      }}
    >
      {agents?.length === 0 ? (
        <p class="note warn">{words.noAgent}</p>
      ) : (
        <ChoiceField
          label={words.agent}
          hint={words.agentHint}
          value={agent?.id ?? ''}
          options={(agents ?? []).map(({ id, name, online }) => ({
            value: id,
            words: online ? name : `${name} (${t.value.printers.agentOffline})`,
          }))}
          onChoice={(id) => {
            chosen.value = id;
          }}
        />
      )}
      <TextField
        label={words.address}
        hint={words.addressHint}
        required
        maxLength={400}
        autocomplete="off"
        placeholder="10.0.0.5:9100"
        {...typed(address)}
      />
      <TextField
        label={words.name}
        hint={words.nameHint}
        maxLength={200}
        autocomplete="off"
        {...typed(name)}
      />
      <details>
        <summary>{words.more}</summary>
        <div class="stack tight">
          <p class="hint">{words.moreHint}</p>
          <ChoiceField
            label={words.language}
            value={language.value}
            options={[
              { value: '', words: words.languages.zpl },
              ...languageId.options
                .filter((one) => one !== 'zpl')
                .map((value) => ({ value, words: words.languages[value] })),
            ]}
            onChoice={(value) => {
              language.value = value;
            }}
          />
          <div class="row">
            <TextField label={words.dpi} type="number" min={50} max={2_400} {...typed(said.dpi)} />
            <TextField label={words.width} type="number" min={1} max={2_000} {...typed(said.width)} />
            <TextField label={words.height} type="number" min={1} max={2_000} {...typed(said.height)} />
          </div>
        </div>
      </details>
    </Ask>
  );
}

/** Says whether the printer is reached, as soon as its agent knows. */
function Outcome({ added, onClose }: { added: AddedPrinterView; onClose: () => void }) {
  const { added: words, general } = t.value;
  const now = useLive(list, ADDRESSES).live.data?.find(({ id }) => id === added.id) ?? added;
  const taking = useSignal(false);
  if (taking.value) return <TakeAway added={now} onDone={onClose} onClose={onClose} />;
  return (
    <Dialog title={words.title} onClose={onClose}>
      <div class="stack">
        <p class="mono anywhere">{now.uri}</p>
        <State of={now} />
        {now.printer === null && <p class="small muted">{words.goesOn}</p>}
        <div class="row end">
          {now.printer === null ? (
            <button type="button" class="button" onClick={sets(taking, true)}>
              {words.takeAway}
            </button>
          ) : (
            <a class="button primary" href={to(['printers', now.printer.id])}>
              {words.open}
            </a>
          )}
          <button type="button" class="button" onClick={onClose}>
            {general.close}
          </button>
        </div>
      </div>
    </Dialog>
  );
}

function State({ of: { printer, why, agent } }: { of: AddedPrinterView }) {
  const { added: words } = t.value;
  if (printer !== null) {
    return (
      <p role="status">
        <span class="badge good">{words.reached}</span> <span class="anywhere">{printer.name}</span>
      </p>
    );
  }
  if (why !== null && agent.online) {
    return (
      <p role="status">
        <span class="badge warn">{words.notReached}</span> <span class="anywhere">{why}</span>
      </p>
    );
  }
  return (
    <p role="status">
      <span class="badge busy">{words.looking}</span>{' '}
      {agent.online ? words.asks(agent.name) : words.agentAway(agent.name)}
    </p>
  );
}

/** All printers that were added. The list stands open while one of them is not reached. */
export function AddedPrinters() {
  const { added: words, printers } = t.value;
  const { live, reload } = useLive(list, may('integrations') ? ADDRESSES : null);
  const taking = useSignal<AddedPrinterView | null>(null);
  const all = live.data ?? [];
  if (all.length === 0) return null;
  return (
    <details open={all.some(({ printer }) => printer === null)}>
      <summary>{words.all(all.length)}</summary>
      <CardTable
        rows={all}
        keyOf={({ id }) => id}
        columns={[
          {
            title: printers.address,
            lead: true,
            cell: ({ uri, name, printer }) => (
              <div>
                {printer !== null ? (
                  <a href={to(['printers', printer.id])} class="anywhere">
                    {printer.name}
                  </a>
                ) : (
                  name !== null && <strong class="anywhere">{name}</strong>
                )}
                <div class="small mono anywhere">{uri}</div>
              </div>
            ),
          },
          { title: words.state, cell: (one) => <State of={one} /> },
          { title: words.agent, cell: ({ agent }) => <span class="anywhere">{agent.name}</span> },
          {
            title: words.by,
            look: 'small muted',
            cell: ({ by, at }) => (
              <span class="anywhere">
                {by}, <Time at={at} />
              </span>
            ),
          },
        ]}
        menu={(one) => ({
          about: one.name ?? one.uri,
          items: [
            {
              words: words.takeAway,
              bad: true,
              onPick: () => {
                taking.value = one;
              },
            },
          ],
        })}
      />
      {taking.value !== null && (
        <TakeAway added={taking.value} onDone={reload} onClose={sets(taking, null)} />
      )}
    </details>
  );
}

type TakeAwayProps = { added: AddedPrinterView; onDone: () => void; onClose: () => void };

function TakeAway({ added: { id, name, uri }, ...rest }: TakeAwayProps) {
  const { added: words } = t.value;
  return (
    <AskToEnd
      title={words.takeAwayTitle(name ?? uri)}
      action={words.takeAway}
      says={words.takeAwaySays}
      path={`${ADDRESSES}/${encodeURIComponent(id)}`}
      said={words.takenAway}
      {...rest}
    />
  );
}
