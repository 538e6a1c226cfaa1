/** What a client can find out about the authorization server: its keys (RFC 7517) and metadata (RFC 8414). */
import type { FastifyInstance } from 'fastify';
import { PERMISSIONS } from '../../contract/admin.ts';
import type { SigningKeys } from './signing-keys.ts';

/** s for which the answers may be cached; a new key is published longer than that before it signs. */
const MAX_AGE = 300;

export function metadataRoutes(
  app: FastifyInstance,
  parts: { keys: SigningKeys; issuer: () => string },
): void {
  app.get('/.well-known/jwks.json', async (_request, reply) => {
    const jwks = await parts.keys.jwks();
    return reply
      .header('cache-control', `public, max-age=${MAX_AGE}`)
      .type('application/jwk-set+json')
      .send(jwks);
  });
  app.get('/.well-known/oauth-authorization-server', async (_request, reply) => {
    const issuer = parts.issuer();
    return reply.header('cache-control', `public, max-age=${MAX_AGE}`).send({
      issuer,
      token_endpoint: `${issuer}/oauth/token`,
      jwks_uri: `${issuer}/.well-known/jwks.json`,
      grant_types_supported: ['client_credentials'],
      // RFC 8414 requires the list; there is no authorization endpoint.
      response_types_supported: [],
      scopes_supported: PERMISSIONS,
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
      service_documentation: `${issuer}/docs/`,
    });
  });
}
