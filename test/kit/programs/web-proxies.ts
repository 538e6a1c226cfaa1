/** Proxies of others: nginx or haproxy before the service, squid before the agent. */
import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onPath } from '../servers/debian-packages.ts';
import { takesConnections } from '../wire/listening.ts';
import type { Program, Programs } from './programs.ts';

const PAGE = new URL('../../../docs/another-site.md', import.meta.url);
const DEPLOYMENT = new URL('../../../docs/deployment.md', import.meta.url);

/** nginx with its defaults, and what the page tells people to write into its configuration. */
export async function startNginx(
  programs: Programs,
  of: { root: string; port: number; address?: string; service: string; key: string; cert: string },
): Promise<Program> {
  const { service } = of;
  const [stanza] = /^ *location \/agent[^}]*\}/m.exec(readFileSync(PAGE, 'utf8')) ?? [];
  if (stanza === undefined) throw new Error('the page has nothing for nginx');
  return await nginxWith(
    programs,
    of,
    `location / { proxy_pass ${service}; proxy_set_header Host $host; }
    ${stanza.replace('http://127.0.0.1:8310', service)}`,
  );
}

/** The page of a network in which nobody has signed in: 200, whatever is asked. @param of.key of TLS; left out: it speaks none */
export async function startPortal(
  programs: Programs,
  of: { root: string; port: number; key?: string; cert?: string },
): Promise<Program> {
  const page =
    "default_type text/html; return 200 '<!doctype html><title>Welcome</title><form>Sign in</form>';";
  return await nginxWith(programs, of, `location / { ${page} }`);
}

async function nginxWith(
  programs: Programs,
  of: { root: string; port: number; address?: string; key?: string; cert?: string },
  locations: string,
): Promise<Program> {
  const { root, port, address = '127.0.0.1', key, cert } = of;
  if (key !== undefined) writeFileSync(join(root, 'key.pem'), key);
  if (cert !== undefined) writeFileSync(join(root, 'cert.pem'), cert);
  const own = `ssl_certificate ${root}/cert.pem; ssl_certificate_key ${root}/key.pem;`;
  const bound = address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
  chmodSync(root, 0o755);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${root}/${kind};`,
  );
  const file = join(root, `nginx-${port}.conf`);
  writeFileSync(
    file,
    `daemon off; pid ${root}/nginx-${port}.pid; error_log stderr;
events {}
http {
  access_log off; ${temporary.join(' ')}
  server {
    listen ${bound}${key === undefined ? ';' : ` ssl; ${own}`}
    ${locations}
  }
}
`,
  );
  const nginx = programs.start('/usr/sbin/nginx', ['-c', file, '-p', root, '-e', 'stderr']);
  await nginx.until(() => takesConnections(port, address));
  return nginx;
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

/** It keeps nothing, asks nobody and ends at once. */
const squidAlone = (root: string) => `cache deny all
pid_filename none
coredump_dir ${root}
shutdown_lifetime 0 seconds
netdb_filename none
pinger_enable off
`;

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
${squidAlone(root)}`,
  );
  const squid = onPath('squid') ?? 'squid';
  await programs.start(squid, ['-N', '-f', file]).until(() => takesConnections(port, address));
  return log;
}

const CERTGEN = '/usr/lib/squid/security_file_certgen';

/**
 * squid as companies have it that read what is sent: it answers in the service's name, with certificates that an authority
 * of its own has signed.
 *
 * @param of.upstream the certificate by which it knows the service
 * @param of.webSockets whether it passes them on, as it does when it is told to
 * @returns the file of its authority
 */
export async function startInspection(
  programs: Programs,
  of: { root: string; port: number; upstream: string; webSockets: boolean },
): Promise<string> {
  const { root, port, upstream, webSockets } = of;
  const [authority, both, made] = [join(root, 'authority.pem'), join(root, 'both.pem'), join(root, 'made')];
  const key = join(root, 'authority-key.pem');
  const subject = ['-subj', '/O=Example AG/CN=Example AG Inspection', '-days', '2'];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', key, '-out', authority, ...subject],
    {
      stdio: 'ignore',
    },
  );
  writeFileSync(both, readFileSync(authority, 'utf8') + readFileSync(key, 'utf8'));
  execFileSync(CERTGEN, ['-c', '-s', made, '-M', '4MB'], { stdio: 'ignore' });
  for (const name of readdirSync(made)) chmodSync(join(made, name), 0o777);
  // It does not run as root.
  for (const path of [root, made, both]) chmodSync(path, 0o777);
  const file = join(root, 'inspection.conf');
  writeFileSync(
    file,
    `http_port 127.0.0.1:${port} ssl-bump tls-cert=${both} generate-host-certificates=on dynamic_cert_mem_cache_size=1MB
sslcrtd_program ${CERTGEN} -s ${made} -M 4MB
sslcrtd_children 1
acl hello at_step SslBump1
ssl_bump peek hello
ssl_bump bump all
tls_outgoing_options cafile=${upstream}
# It compares names alone, and the service's certificate here is of an address.
sslproxy_cert_error allow all
sslproxy_cert_sign signTrusted all
${webSockets ? 'http_upgrade_request_protocols websocket allow all' : ''}
http_access allow all
access_log none
cache_log ${root}/inspection.log
${squidAlone(root)}`,
  );
  await programs.start(onPath('squid') ?? 'squid', ['-N', '-f', file]).until(() => takesConnections(port));
  return authority;
}
