-- Who a person is at the provider of single sign-on (OpenID Connect Core §2: `iss` and `sub` together name somebody for
-- ever, an e-mail address does not). Bound with the first sign-in.
create table platen.provider_subjects (
  tenant_id text not null references platen.tenants (id) on delete cascade,
  issuer text not null,
  subject text not null,
  person_id uuid not null references platen.people (id) on delete cascade,
  created_at timestamptz not null default now(),
  primary key (tenant_id, issuer, subject),
  unique (person_id, issuer)
);

-- Passkeys (WebAuthn). `counter`: what the authenticator counted last; one that counts backwards has been copied.
create table platen.passkeys (
  id text primary key,
  person_id uuid not null references platen.people (id) on delete cascade,
  name text not null,
  public_key bytea not null,
  counter bigint not null,
  transports text[] not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index passkeys_person on platen.passkeys (person_id, created_at);

-- What an authenticator is to sign, once. `person_id`: whose new passkey it is for; null: for a sign-in.
create table platen.passkey_challenges (
  challenge text primary key,
  person_id uuid references platen.people (id) on delete cascade,
  expires_at timestamptz not null
);
create index passkey_challenges_age on platen.passkey_challenges (expires_at);
