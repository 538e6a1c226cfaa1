/** Proxies of others: nginx or haproxy before the service, squid before the agent. */
import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onPath } from '../servers/debian-packages.ts';
import { takesConnections } from '../wire/listening.ts';
import type { Programs } from './programs.ts';

const PAGE = new URL('../../../docs/another-site.md', import.meta.url);
const DEPLOYMENT = new URL('../../../docs/deployment.md', import.meta.url);

/** nginx with its defaults, and what the page tells people to write into its configuration. */
export async function startNginx(
  programs: Programs,
  of: { root: string; port: number; service: string; key: string; cert: string },
): Promise<void> {
  const { root, port, service, key, cert } = of;
  const [stanza] = /^ *location \/agent[^}]*\}/m.exec(readFileSync(PAGE, 'utf8')) ?? [];
  if (stanza === undefined) throw new Error('the page has nothing for nginx');
  writeFileSync(join(root, 'key.pem'), key);
  writeFileSync(join(root, 'cert.pem'), cert);
  chmodSync(root, 0o755);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${root}/${kind};`,
  );
  const file = join(root, 'nginx.conf');
  writeFileSync(
    file,
    `daemon off; pid ${root}/nginx.pid; error_log stderr;
events {}
http {
  access_log off; ${temporary.join(' ')}
  server {
    listen 127.0.0.1:${port} ssl; ssl_certificate ${root}/cert.pem; ssl_certificate_key ${root}/key.pem;
    location / { proxy_pass ${service}; proxy_set_header Host $host; }
    ${stanza.replace('http://127.0.0.1:8310', service)}
  }
}
`,
  );
  await programs
    .start('/usr/sbin/nginx', ['-c', file, '-p', root, '-e', 'stderr'])
    .until(() => takesConnections(port));
}

/**
 * haproxy before two instances, as the page tells people to set it up. Its answers say which one it asked; as other
 * balancers, it tries nothing a second time.
 *
 * @param of.tls the address where it ends TLS, and a file with certificate and key
 */
export async function startHaproxy(
  programs: Programs,
  of: { root: string; port: number; one: number; two: number; tls?: { address: string; file: string } },
): Promise<void> {
  const { root, port, one, two, tls } = of;
  const bound = `bind ${tls?.address ?? '127.0.0.1'}:${port}${tls === undefined ? '' : ` ssl crt ${tls.file}`}`;
  const [stanza] = /^ *backend platen(?:\n {6}.+)*/m.exec(readFileSync(DEPLOYMENT, 'utf8')) ?? [];
  if (stanza === undefined) throw new Error('the page has nothing for haproxy');
  const file = join(root, 'haproxy.cfg');
  writeFileSync(
    file,
    `defaults
  mode http
  retries 0
  timeout connect 5s
  timeout client 60s
  timeout server 60s
frontend callers
  ${bound}
  default_backend platen
${stanza.replace('10.0.0.1:8310', `127.0.0.1:${one}`).replace('10.0.0.2:8310', `127.0.0.1:${two}`)}
      http-response set-header x-server %s
`,
  );
  const haproxy = onPath('haproxy') ?? 'haproxy';
  await programs.start(haproxy, ['-db', '-f', file]).until(() => takesConnections(port, tls?.address));
}

export const SQUID_USER = { name: 'branch', password: 'office-4711' };

/** squid, which lets through who has a password. @returns the file that it notes each tunnel in */
export async function startSquid(
  programs: Programs,
  root: string,
  port: number,
  address = '127.0.0.1',
): Promise<string> {
  const hash = execFileSync('openssl', ['passwd', '-apr1', SQUID_USER.password], { encoding: 'utf8' });
  writeFileSync(join(root, 'users'), `${SQUID_USER.name}:${hash}`);
  const [file, log] = [join(root, 'squid.conf'), join(root, 'access.log')];
  writeFileSync(log, '');
  // It does not run as root.
  for (const path of [root, log]) chmodSync(path, 0o777);
  writeFileSync(
    file,
    `http_port ${address}:${port}
auth_param basic program /usr/lib/squid/basic_ncsa_auth ${root}/users
acl known proxy_auth REQUIRED
http_access allow known
http_access deny all
access_log stdio:${log}
cache_log ${root}/cache.log
cache deny all
pid_filename none
coredump_dir ${root}
shutdown_lifetime 0 seconds
netdb_filename none
pinger_enable off
`,
  );
  const squid = onPath('squid') ?? 'squid';
  await programs.start(squid, ['-N', '-f', file]).until(() => takesConnections(port, address));
  return log;
}
