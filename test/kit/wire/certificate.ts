import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A certificate that a printer made for itself. @param address whose it is */
export function selfSigned(address = '127.0.0.1'): { key: string; cert: string } {
  const directory = mkdtempSync(join(tmpdir(), 'platen-test-tls-'));
  try {
    const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
    execFileSync(
      'openssl',
      [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-days',
        '2',
      ].concat([
        '-keyout',
        key,
        '-out',
        cert,
        '-subj',
        '/CN=printer',
        '-addext',
        `subjectAltName=IP:${address}`,
      ]),
      { stdio: 'ignore' },
    );
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
