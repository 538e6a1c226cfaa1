/** Service accounts of the systems that print over HTTP. */
import { useSignal } from '@preact/signals';
import { z } from 'zod';
import {
  type IntegrationCreated,
  type IntegrationView,
  integrationCreated,
  integrationView,
  type Permission,
  tenantView,
} from '../../src/contract/admin.ts';
import { CopyButton } from '../controls/copy.tsx';
import { Ask, Dialog } from '../controls/dialog.tsx';
import { TextField } from '../controls/field.tsx';
import { Meter } from '../controls/meter.tsx';
import { Empty, Page, Shown } from '../controls/page.tsx';
import { Time } from '../controls/time.tsx';
import { call, Refusal } from '../service/call.ts';
import { useLive } from '../service/live.ts';
import { ofTenant } from '../service/session.ts';
import { t } from '../texts/texts.ts';
import { curlOf } from './curl.ts';

export function Integrations() {
  const { integrations: words } = t.value;
  const { live, reload } = useLive(z.array(integrationView), ofTenant('/integrations'), () => false);
  const creating = useSignal(false);
  const created = useSignal<IntegrationCreated | null>(null);
  const revoking = useSignal<IntegrationView | null>(null);
  const external = live.problem instanceof Refusal && live.problem.code === 'authorization-external';
  const button = (
    <button
      type="button"
      class="button primary"
      onClick={() => {
        creating.value = true;
      }}
    >
      {words.create}
    </button>
  );
  return (
    <Page title={words.title} actions={!external && live.data !== undefined && button}>
      <div class="stack wide">
        <p class="muted">{words.hint}</p>
        <Quota />
        {external ? (
          <p class="note">{words.external}</p>
        ) : (
          <Shown of={live} onRetry={reload}>
            {(list) =>
              list.length === 0 ? (
                <Empty icon="integrations" title={words.empty} hint={words.emptyHint}>
                  {button}
                </Empty>
              ) : (
                <Accounts
                  accounts={list}
                  onRevoke={(account) => {
                    revoking.value = account;
                  }}
                />
              )
            }
          </Shown>
        )}
      </div>
      {creating.value && (
        <Create
          onClose={() => {
            creating.value = false;
          }}
          onCreated={(account) => {
            created.value = account;
            reload();
          }}
        />
      )}
      {created.value !== null && (
        <Secret
          account={created.value}
          onClose={() => {
            created.value = null;
          }}
        />
      )}
      {revoking.value !== null && (
        <Revoke
          account={revoking.value}
          onDone={reload}
          onClose={() => {
            revoking.value = null;
          }}
        />
      )}
    </Page>
  );
}

function Quota() {
  const { integrations: words } = t.value;
  const { live } = useLive(tenantView, ofTenant(''));
  if (live.data === undefined) return null;
  const { used, labels } = live.data.quota;
  return (
    <div class="card stack tight narrow">
      <div class="row spread">
        <span>{words.quota}</span>
        <strong class="numbers">{words.quotaOf(used, labels)}</strong>
      </div>
      {labels !== null && <Meter part={Math.min(used, labels)} of={labels} />}
    </div>
  );
}

type AccountsProps = { accounts: readonly IntegrationView[]; onRevoke: (account: IntegrationView) => void };

function Accounts({ accounts, onRevoke }: AccountsProps) {
  const { integrations: words, people } = t.value;
  return (
    <div class="card flush">
      <table class="cards">
        <thead>
          <tr>
            <th>{words.name}</th>
            <th>{words.key}</th>
            <th>{words.scope}</th>
            <th>{words.created}</th>
            <th>{people.state}</th>
            <th>
              <span class="unseen">{t.value.general.more}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {accounts.map((account) => (
            <tr key={account.apiKey}>
              <td class="lead">
                <strong>{account.name}</strong>
              </td>
              <td data-label={words.key} class="mono">
                {account.apiKey}
              </td>
              <td data-label={words.scope}>{scopeInWords(account.scope)}</td>
              <td data-label={words.created} class="nowrap muted">
                <Time at={account.createdAt} />
              </td>
              <td data-label={people.state}>
                <span class={account.revokedAt === null ? 'badge good' : 'badge'}>
                  {account.revokedAt === null ? words.active : words.revoked}
                </span>
              </td>
              <td class="right">
                {account.revokedAt === null && (
                  <button
                    type="button"
                    class="button quiet"
                    aria-label={`${words.revoke} ${account.name}`}
                    onClick={() => onRevoke(account)}
                  >
                    {words.revoke}
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function scopeInWords(scope: string): string {
  const { integrations: words } = t.value;
  const known: Readonly<Record<string, string>> = {
    'jobs:enqueue': words.mayPrint,
    'jobs:read': words.mayRead,
  };
  return scope
    .split(' ')
    .map((word) => known[word] ?? word)
    .join(', ');
}

type CreateProps = { onClose: () => void; onCreated: (account: IntegrationCreated) => void };

function Create({ onClose, onCreated }: CreateProps) {
  const { integrations: words } = t.value;
  const name = useSignal('');
  const prints = useSignal(true);
  const reads = useSignal(true);
  const scope: Permission[] = [
    ...(prints.value ? ['jobs:enqueue' as const] : []),
    ...(reads.value ? ['jobs:read' as const] : []),
  ];
  return (
    <Ask
      title={words.createTitle}
      action={words.createSubmit}
      disabled={scope.length === 0 || name.value.trim() === ''}
      onClose={onClose}
      onAction={async () => {
        const body = { name: name.value.trim(), scope };
        onCreated(await call(integrationCreated, ofTenant('/integrations'), { body }));
      }}
    >
      <TextField
        label={words.name}
        required
        maxLength={200}
        placeholder={words.namePlaceholder}
        value={name.value}
        onText={(text) => {
          name.value = text;
        }}
      />
      <fieldset>
        <legend class="label">{words.scope}</legend>
        {[
          { now: prints, said: words.mayPrint },
          { now: reads, said: words.mayRead },
        ].map(({ now, said }) => (
          <label key={said} class="check">
            <input
              type="checkbox"
              checked={now.value}
              onChange={({ currentTarget }) => {
                now.value = currentTarget.checked;
              }}
            />
            {said}
          </label>
        ))}
      </fieldset>
    </Ask>
  );
}

function Secret({ account, onClose }: { account: IntegrationCreated; onClose: () => void }) {
  const { integrations: words } = t.value;
  const rows = [
    [words.key, account.apiKey],
    [words.secret, account.apiSecret],
    [words.tokenUrl, account.tokenUrl],
    [words.audience, account.audience],
    [words.tenant, account.tenant],
    [words.endpoint, account.printEndpoint],
  ] as const;
  const command = curlOf(account);
  return (
    <Dialog title={words.createdTitle} large onClose={onClose}>
      <p class="note warn">{words.createdSays}</p>
      <dl class="facts secret">
        {rows.map(([name, value]) => [
          <dt key={name}>{name}</dt>,
          <dd key={`${name} `} class="row">
            <code class="anywhere">{value}</code>
            <CopyButton text={value} about={name} />
          </dd>,
        ])}
      </dl>
      <div class="stack tight">
        <div class="row spread">
          <h3>{words.try}</h3>
          <CopyButton text={command} about={words.try} />
        </div>
        <p class="small muted">{words.trySays}</p>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be scrolled with the keyboard too */}
        <pre class="code" tabIndex={0}>
          {command}
        </pre>
      </div>
      <div class="row end">
        <button type="button" class="button primary" onClick={onClose}>
          {words.done}
        </button>
      </div>
    </Dialog>
  );
}

type RevokeProps = { account: IntegrationView; onDone: () => void; onClose: () => void };

function Revoke({ account, onDone, onClose }: RevokeProps) {
  const { integrations: words } = t.value;
  return (
    <Ask
      title={words.revokeTitle(account.name)}
      action={words.revoked}
      danger
      onClose={onClose}
      onAction={async () => {
        await call(z.unknown(), ofTenant(`/integrations/${encodeURIComponent(account.apiKey)}`), {
          method: 'DELETE',
        });
        onDone();
      }}
    >
      <p>{words.revokeSays}</p>
    </Ask>
  );
}
