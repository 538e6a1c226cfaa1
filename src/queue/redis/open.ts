/** The queues on Redis: one connection for everything, and for a service one more, on which it hears of reports. */
import type { LaneStore } from '../lane-store.ts';
import { type ConnectionOptions, connectRedis, readAddress } from './connection.ts';
import { RedisLanes } from './lanes.ts';
import { ReportStreams } from './report-stream.ts';

interface RedisOptions extends ConnectionOptions {
  prefix: string;
}

/** @throws as `connectRedis` */
export async function openRedis(options: RedisOptions): Promise<LaneStore> {
  const { prefix, logger, errors, url } = options;
  const redis = await connectRedis(options);
  let heard = true;
  const onPublished = (services: number) => {
    if (services > 0 === heard) return;
    heard = services > 0;
    const fields = { redis: readAddress(url), prefix };
    if (heard) logger.info(fields, 'a service takes the reports');
    else {
      const why = 'it is not running, or has another REDIS_URL or PLATEN_QUEUE_PREFIX';
      logger.warn(fields, `no service takes the reports, or sends jobs: ${why}`);
    }
  };
  const streams = new ReportStreams(redis, prefix, onPublished);
  return new RedisLanes({ redis, prefix, errors, streams });
}
