-- Private keys stand here sealed with a key that the database does not have. Those that stood here in the clear sign
-- nothing any more; what they have signed is good until it expires. `sealed_with`: that key's fingerprint.
alter table platen.signing_keys drop column private_jwk;
alter table platen.signing_keys add column sealed text;
alter table platen.signing_keys add column sealed_with text;
