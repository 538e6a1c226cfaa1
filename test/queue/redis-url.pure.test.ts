/** What REDIS_URL may say, and how it is refused: never with the password in it. */
import { expect, test } from 'vitest';
import { readRedisUrl } from '../../src/queue/redis/connection.ts';

const SECRET = 'the-secret';

test.each([
  ['no url', /is not a URL/],
  [`redis://:${SECRET}/2@redis:6379`, /is not a URL: a \/ .* has to be percent-encoded/],
  [`http://u:${SECRET}@redis:6379`, /neither a redis:\/\/ nor a rediss:\/\/ address/],
  [`redis://u:${SECRET}@redis/?tls=yes`, /parameter that is not known or not valid: .*tls/],
  [`redis://u:${SECRET}@redis/?cluster=true`, /not valid: cluster/],
  [`redis://u:${SECRET}@redis/?cluster=yes&sentinel=main`, /both cluster and sentinel/],
  [`redis://u:${SECRET}@redis/?also=b:6379`, /names other servers, but neither cluster nor sentinel/],
  [`redis://u:${SECRET}@redis/?cluster=yes&also=b:none`, /an also= that is no host:port/],
  [`redis://u:${SECRET}@redis/3?cluster=yes`, /a database number, which a cluster has not/],
  [`redis://u:${SECRET}@redis/first`, /a path that is no database number/],
  [`redis://u:${SECRET}@redis/?ca=/etc/ca.pem`, /has ca, but is not a rediss:\/\/ address/],
  [`rediss://u:${SECRET}@redis/?ca=/no/such/file.pem`, /a ca= that cannot be read: .*no such file/],
  [`redis://u:${SECRET}%@redis`, /a "%" that is not written as %25/],
])('%s is refused', (url, why) => {
  const refusal = expect.objectContaining({ code: 'refused', message: expect.stringMatching(why) });
  expect(() => readRedisUrl(url)).toThrow(refusal);
  expect(() => readRedisUrl(url)).not.toThrow(SECRET);
});

test('servers, Sentinels and clusters are told apart, with what is encoded read', () => {
  expect(readRedisUrl('redis://:p%25w@[::1]/2')).toMatchObject({
    kind: 'server',
    nodes: [{ host: '::1', port: 6379 }],
    options: { password: 'p%w', db: 2 },
  });
  expect(readRedisUrl('rediss://a?sentinel=main&also=b:1,c')).toMatchObject({
    kind: 'sentinel',
    name: 'main',
    nodes: [
      { host: 'a', port: 26379 },
      { host: 'b', port: 1 },
      { host: 'c', port: 26379 },
    ],
    options: { tls: {} },
  });
  expect(readRedisUrl('redis://a?cluster=yes').kind).toBe('cluster');
});
