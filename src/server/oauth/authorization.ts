/** Whose tokens the service takes, its own or an external server's, and which accounts it issues them to. */
import type { ServerConfig } from '../config.ts';
import type { Pool } from '../store/pool.ts';
import { ExternalTokens, OwnTokens } from './access-token.ts';
import { Credentials } from './credentials.ts';
import { Integrations } from './integrations.ts';
import type { SigningKeys } from './signing-keys.ts';
import { VerifiedTokens } from './verified-tokens.ts';

type Parts = { config: ServerConfig; pool: Pool; keys: SigningKeys; publicUrl: () => string };

/** `own` and `integrations` are undefined where an external server issues the tokens. */
export function authorization({ config, pool, keys, publicUrl }: Parts) {
  const { externalAuth, audience } = config;
  const own = externalAuth === undefined ? new OwnTokens(keys, publicUrl, config) : undefined;
  const integrations = own === undefined ? undefined : new Integrations(pool);
  const issuing = externalAuth === undefined ? own : new ExternalTokens(externalAuth, audience);
  if (issuing === undefined) throw new Error('no authorization server is configured');
  const credentials = new Credentials(
    integrations,
    () => ({
      tokenUrl: `${publicUrl()}/oauth/token`,
      audience,
      printEndpoint: `${publicUrl()}/v2/jobs`,
    }),
    config.printNode || config.ipp,
  );
  return { own, integrations, tokens: new VerifiedTokens(issuing), credentials };
}
