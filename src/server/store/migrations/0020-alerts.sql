-- Alerts go to people as webhooks' messages go to systems: the same outbox, other forms. `signed` is a webhook by Standard
-- Webhooks; `mail`, `chat` and `teams` are receivers of alerts. Of those `sealed` has the address itself, since whoever has a
-- chat's address may write there, and `url` what of it may be shown. `minutes`: what lasts as long is told. `quiet`: hours
-- in which nothing is.
alter table platen.webhooks
  add form text not null default 'signed'
    constraint webhooks_form check (form in ('signed', 'mail', 'chat', 'teams')),
  add minutes integer,
  add quiet json;

-- What an alert says: that something began, or that all of it is over.
alter table platen.webhook_messages add alert json;

-- What a receiver was told of and what is not over yet. `message`: the one that told of it. `over`: it is, but something
-- else in that message is not.
create table platen.alerts (
  webhook_id uuid not null references platen.webhooks (id) on delete cascade,
  kind text not null,
  subject text not null,
  item json not null,
  message uuid not null,
  over boolean not null default false,
  primary key (webhook_id, kind, subject)
);
