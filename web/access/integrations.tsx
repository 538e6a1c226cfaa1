/** The page Integrations: the service accounts of systems that print over HTTP, the quota, and the usage. */
import { useSignal } from '@preact/signals';
import { z } from 'zod';
import {
  type IntegrationCreated,
  type IntegrationRotated,
  type IntegrationView,
  integrationView,
  tenantView,
} from '../../src/contract/admin.ts';
import { CardTable } from '../controls/card-table.tsx';
import type { MenuItem } from '../controls/menu.tsx';
import { Meter } from '../controls/meter.tsx';
import { Opens } from '../controls/opens.tsx';
import { Empty, Page, Shown } from '../controls/page.tsx';
import { sets } from '../controls/sets.ts';
import { Time } from '../controls/time.tsx';
import { Refusal } from '../service/call.ts';
import { ofTheTenant, useLive } from '../service/live.ts';
import { ofTenant } from '../service/session.ts';
import { t, when } from '../texts/texts.ts';
import { Create, End, Rotate, Secret } from './new-integration.tsx';
import { scopeWords } from './scope-words.ts';
import { Usage } from './usage.tsx';

type Question = { about: 'rotate' | 'account' | 'old' | 'new'; account: IntegrationView };

export function Integrations() {
  const { integrations: words } = t.value;
  const { live, reload } = useLive(z.array(integrationView), ofTenant('/integrations'), ofTheTenant);
  const creating = useSignal(false);
  const created = useSignal<IntegrationCreated | IntegrationRotated | null>(null);
  const question = useSignal<Question | null>(null);
  const external = live.problem instanceof Refusal && live.problem.code === 'authorization-external';
  const show = (account: IntegrationCreated | IntegrationRotated) => {
    created.value = account;
    reload();
  };
  const close = sets(question, null);
  const button = (
    <Opens what={creating} look="primary">
      {words.create}
    </Opens>
  );
  return (
    <Page title={words.title} actions={!external && live.data !== undefined && button}>
      <div class="stack wide">
        <p class="muted">{words.hint}</p>
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
                  onAsk={(asked) => {
                    question.value = asked;
                  }}
                />
              )
            }
          </Shown>
        )}
        <Quota />
        <Usage />
      </div>
      {creating.value && <Create onClose={sets(creating, false)} onCreated={show} />}
      {question.value?.about === 'rotate' && (
        <Rotate account={question.value.account} onRotated={show} onClose={close} />
      )}
      {question.value !== null && question.value.about !== 'rotate' && (
        <End account={question.value.account} what={question.value.about} onDone={reload} onClose={close} />
      )}
      {created.value !== null && <Secret account={created.value} onClose={sets(created, null)} />}
    </Page>
  );
}

function Quota() {
  const { integrations: words } = t.value;
  const { live } = useLive(tenantView, ofTenant(''));
  if (live.data === undefined) return null;
  const { used, labels, tests } = live.data.quota;
  return (
    <div class="card stack tight narrow">
      <div class="row spread">
        <span>{words.quota}</span>
        <strong class="numbers">{words.quotaOf(used, labels)}</strong>
      </div>
      {labels !== null && <Meter part={Math.min(used, labels)} of={labels} />}
      {tests.used > 0 && <p class="small muted">{words.testsOf(tests.used, tests.labels)}</p>}
    </div>
  );
}

type AccountsProps = { accounts: readonly IntegrationView[]; onAsk: (question: Question) => void };

function Accounts({ accounts, onAsk }: AccountsProps) {
  const { integrations: words, people } = t.value;
  return (
    <CardTable
      rows={accounts}
      keyOf={({ apiKey }) => apiKey}
      columns={[
        {
          title: words.name,
          lead: true,
          cell: ({ name, test }) => (
            <>
              <strong>{name}</strong> {test && <span class="badge">{words.test}</span>}
            </>
          ),
        },
        { title: words.key, look: 'mono small anywhere', cell: ({ apiKey }) => apiKey },
        { title: words.scope, cell: ({ scope }) => scopeWords(scope) },
        { title: words.created, look: 'nowrap muted', cell: ({ createdAt }) => <Time at={createdAt} /> },
        {
          title: words.used,
          look: 'nowrap muted',
          cell: ({ lastUsedAt }) => (lastUsedAt === null ? people.never : <Time at={lastUsedAt} />),
        },
        { title: people.state, cell: (account) => <State account={account} /> },
      ]}
      menu={(account) => ({ about: account.name, items: actionsOf(account, onAsk) })}
    />
  );
}

function State({ account: { revokedAt, oldSecret } }: { account: IntegrationView }) {
  const { integrations: words } = t.value;
  if (revokedAt !== null) return <span class="badge">{words.revoked}</span>;
  if (oldSecret === null) return <span class="badge good">{words.active}</span>;
  const { endsAt } = oldSecret;
  return <span class="badge warn">{endsAt === null ? words.two : words.twoUntil(when(endsAt))}</span>;
}

function actionsOf(account: IntegrationView, onAsk: (question: Question) => void): MenuItem[] {
  const { integrations: words } = t.value;
  if (account.revokedAt !== null) return [];
  const item = (text: string, about: Question['about'], bad = false) => ({
    words: text,
    bad,
    onPick: () => onAsk({ about, account }),
  });
  const secrets =
    account.oldSecret === null
      ? [item(words.rotate, 'rotate')]
      : [item(words.removeOld, 'old'), item(words.removeNew, 'new')];
  return [...secrets, item(words.revoke, 'account', true)];
}
