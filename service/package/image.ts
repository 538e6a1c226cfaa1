/**
 * The image of the service for Docker, Podman and Kubernetes, in one file (OCI Image Format 1.0, image layout): Debian's
 * essential packages, and the package of the service installed there. Debian's packages come from its archive.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { CONFIGURATION } from '../../src/cli/linux-service/unit.ts';
import { STATE, USER } from '../../src/contract/own-user.ts';
import { architectureOf, type Build, serviceDeb } from './debian.ts';
import { inStage } from './stage.ts';

/** Programs that make it, by the packages of Debian that have them. */
export const IMAGE_PROGRAMS = { mmdebstrap: ['mmdebstrap'], tar: ['tar'], dpkg: ['dpkg-deb'] };

const RELEASE = 'bookworm';
/** What the package of the service depends on, besides what Debian calls essential. */
const INCLUDED = ['libstdc++6', 'passwd', 'init-system-helpers'];
/** The same in every image, since it owns what is in volumes. Those that `useradd` gives away begin at 999. */
const UID = 831;
const PORT = 8310;
const INDEX = 'application/vnd.oci.image.index.v1+json';
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const CONFIG = 'application/vnd.oci.image.config.v1+json';
const LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip';

/** There is no curl in the image. */
const HEALTHY = `fetch('http://127.0.0.1:'+(process.env.PLATEN_PORT||${PORT})+'/healthz').then(({ok})=>process.exit(ok?0:1),()=>process.exit(1))`;
const SECOND = 1_000_000_000;

interface Blob {
  mediaType: string;
  digest: string;
  size: number;
}

/** @returns the names of the files */
export async function image(build: Build): Promise<string[]> {
  const { out, version, time, level = 6 } = build;
  const architecture = architectureOf(process.arch);
  return await inStage(async (stage) => {
    const [debs, layout] = [join(stage, 'debs'), join(stage, 'image')];
    mkdirSync(debs);
    mkdirSync(join(layout, 'blobs/sha256'), { recursive: true });
    const [deb = ''] = await serviceDeb({ ...build, out: debs, level: 1 });
    const root = join(stage, 'root.tar');
    makeRoot(join(debs, deb), root, time);
    const { layer, diffId } = await addLayer(layout, root, level);
    const created = time.toISOString();
    const config = add(layout, CONFIG, {
      created,
      architecture,
      os: 'linux',
      config: runtime(version),
      rootfs: { type: 'layers', diff_ids: [diffId] },
      history: [{ created, created_by: 'npm run package -- --image' }],
    });
    const manifest = { schemaVersion: 2, mediaType: MANIFEST, config, layers: [layer] };
    const described = {
      ...add(layout, MANIFEST, manifest),
      platform: { architecture, os: 'linux' },
      annotations: { 'org.opencontainers.image.ref.name': `platen:${version}` },
    };
    const index = { schemaVersion: 2, mediaType: INDEX, manifests: [described] };
    writeFileSync(join(layout, 'index.json'), JSON.stringify(index));
    writeFileSync(join(layout, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
    const file = `platen_${version}_${architecture}.oci.tar`;
    const sorted = ['--sort=name', `--mtime=${created}`, '--owner=0', '--group=0', '--numeric-owner'];
    execFileSync('tar', [...sorted, '-C', layout, '-cf', join(out, file), '.']);
    return [file];
  });
}

/** How the image runs unless the person says otherwise. `Healthcheck` is Docker's and Podman's own, and no part of OCI. */
function runtime(version: string) {
  return {
    User: `${UID}:${UID}`,
    ExposedPorts: { [`${PORT}/tcp`]: {} },
    Env: [
      'PATH=/usr/sbin:/usr/bin:/sbin:/bin',
      `HOME=${STATE}`,
      `PLATEN_DATA=${STATE}`,
      'PLATEN_HOST=0.0.0.0',
    ],
    Entrypoint: ['/usr/bin/platen'],
    Cmd: ['up', '--config', `${CONFIGURATION}/platen.json`],
    Volumes: { [STATE]: {} },
    WorkingDir: STATE,
    StopSignal: 'SIGTERM',
    Healthcheck: {
      Test: ['CMD', '/usr/lib/platen/current/bin/node', '-e', HEALTHY],
      Interval: 30 * SECOND,
      Timeout: 5 * SECOND,
      StartPeriod: 60 * SECOND,
      Retries: 3,
    },
    Labels: {
      'org.opencontainers.image.title': 'Platen',
      'org.opencontainers.image.version': version,
    },
  };
}

/** Writes Debian with the package in it, as a tar. The account is made first, with an ID of our own. */
function makeRoot(deb: string, file: string, time: Date): void {
  const account = `useradd --system --uid ${UID} --user-group --home-dir ${STATE} --no-create-home --shell /usr/sbin/nologin ${USER}`;
  execFileSync(
    'mmdebstrap',
    [
      '--quiet',
      '--variant=essential',
      `--include=${INCLUDED.join(',')}`,
      '--dpkgopt=force-unsafe-io',
      '--dpkgopt=path-exclude=/usr/share/doc/*',
      '--dpkgopt=path-include=/usr/share/doc/*/copyright',
      '--dpkgopt=path-include=/usr/share/doc/platen/*',
      '--dpkgopt=path-exclude=/usr/share/man/*',
      '--dpkgopt=path-exclude=/usr/share/locale/*',
      `--customize-hook=chroot "$1" ${account}`,
      `--customize-hook=upload ${deb} /tmp/platen.deb`,
      '--customize-hook=chroot "$1" dpkg --install /tmp/platen.deb >/dev/null',
      '--customize-hook=rm "$1/tmp/platen.deb" "$1/etc/passwd-" "$1/etc/group-" "$1/etc/shadow-" "$1/etc/gshadow-" "$1/etc/dpkg/dpkg.cfg.d/99mmdebstrap"',
      RELEASE,
      file,
    ],
    {
      env: { ...process.env, SOURCE_DATE_EPOCH: String(time.getTime() / 1000) },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
}

/** Packs the only layer. @returns its blob, and the hash of what is in it */
async function addLayer(
  layout: string,
  tar: string,
  level: number,
): Promise<{ layer: Blob; diffId: string }> {
  const [plain, packed] = [createHash('sha256'), createHash('sha256')];
  const part = join(layout, 'blobs/layer');
  await pipeline(
    createReadStream(tar),
    hashing(plain),
    createGzip({ level }),
    hashing(packed),
    createWriteStream(part),
  );
  const hash = packed.digest('hex');
  renameSync(part, join(layout, 'blobs/sha256', hash));
  const { size } = statSync(join(layout, 'blobs/sha256', hash));
  return {
    layer: { mediaType: LAYER, digest: `sha256:${hash}`, size },
    diffId: `sha256:${plain.digest('hex')}`,
  };
}

function hashing(hash: ReturnType<typeof createHash>): Transform {
  return new Transform({
    transform(bytes: Buffer, _, done) {
      hash.update(bytes);
      done(null, bytes);
    },
  });
}

/** Adds what is described as JSON to the blobs. */
function add(layout: string, mediaType: string, content: object): Blob {
  const bytes = Buffer.from(JSON.stringify(content));
  const hash = createHash('sha256').update(bytes).digest('hex');
  writeFileSync(join(layout, 'blobs/sha256', hash), bytes);
  return { mediaType, digest: `sha256:${hash}`, size: bytes.length };
}
