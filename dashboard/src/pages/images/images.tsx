import { Button } from "@mantine/core";
import type { Image, ImageListPage } from "#model/images/image.ts";
import { useAccount, useRead } from "../../api/hooks.ts";
import { useAddress, useAdding } from "../../api/search.ts";
import { Icon } from "../../parts/icon.tsx";
import { Badge, Card, Empty, Failed, Loading, PageHead } from "../../parts/page.tsx";
import { number } from "../../parts/time.tsx";
import tools from "../../parts/tools.module.css";
import { SearchField } from "../../parts/search-field.tsx";
import { type Delivery, useDelivery } from "./delivery.ts";
import { ImageDetails } from "./image-details.tsx";
import { ImageTabs } from "./image-tabs.tsx";
import { Thumbnail } from "./thumbnail.tsx";
import { UploadImages } from "./upload-images.tsx";
import css from "./images.module.css";

const PER_PAGE = 60;

export function ImagesPage() {
  const account = useAccount();
  const base = account && `/accounts/${account.id}/images/v1`;
  const [{ creator, after, image: opened }, go] = useAddress();
  const query = new URLSearchParams({ per_page: String(PER_PAGE) });
  if (creator !== undefined) query.set("creator", creator);
  if (after !== undefined) query.set("continuation_token", after);
  const read = useRead<ImageListPage>(account && `/accounts/${account.id}/images/v2?${query.toString()}`, { keepsPrevious: true });
  const stats = useRead<{ count: { current: number; allowed: number } }>(base && `${base}/stats`);
  const delivery = useDelivery(base);
  const [isAdding, setAdding] = useAdding();
  const images = read.data?.result.images;
  const next = read.data?.result.continuation_token;
  const add = (
    <Button leftSection={<Icon name="plus" size={16} />} onClick={() => setAdding(true)}>
      Upload images
    </Button>
  );
  const count = stats.data?.result.count.current;
  return (
    <>
      <PageHead
        title="Images"
        lead={
          count === undefined || count === 0
            ? "Uploaded once, delivered in each size."
            : `${number(count, "image")}, delivered in each size.`
        }
      >
        {images && images.length > 0 && add}
      </PageHead>
      <ImageTabs />
      {(creator !== undefined || (images?.length ?? 0) > 0) && (
        <div className={tools["tools"]}>
          <SearchField
            label="Images of this creator"
            placeholder="Images of this creator"
            asked={creator}
            onAsk={(text) => go({ creator: text, after: undefined }, { replace: true })}
          />
        </div>
      )}
      <Card>
        {read.error ? (
          <Failed error={read.error} onAgain={() => void read.refetch()} />
        ) : !images ? (
          <Loading />
        ) : images.length === 0 && creator !== undefined ? (
          <Empty title="No image of this creator" />
        ) : images.length === 0 ? (
          <Empty title="Upload the first image">
            <p>Visitors get it in the size that a page asks for, in the best format that their browser knows.</p>
            {add}
          </Empty>
        ) : (
          <ul className={css["grid"]} aria-label="Images">
            {images.map((image) => (
              <li key={image.id}>
                <Tile image={image} delivery={delivery} onOpen={() => go({ image: image.id })} />
              </li>
            ))}
          </ul>
        )}
      </Card>
      {(after !== undefined || (next !== null && next !== undefined)) && (
        <div className={tools["pager"]}>
          <Button variant="default" disabled={after === undefined} onClick={() => go({ after: undefined })}>
            First page
          </Button>
          <Button variant="default" disabled={!next} onClick={() => go({ after: next ?? undefined })}>
            Next
          </Button>
        </div>
      )}
      {isAdding && base !== undefined && <UploadImages base={base} onClose={() => setAdding(false)} />}
      {opened !== undefined && base !== undefined && (
        <ImageDetails base={base} id={opened} delivery={delivery} onClose={() => go({ image: undefined }, { replace: true })} />
      )}
    </>
  );
}

interface TileProps {
  readonly image: Image;
  readonly delivery: Delivery | undefined;
  readonly onOpen: () => void;
}

const Tile = ({ image, delivery, onOpen }: TileProps) => (
  <button type="button" className={css["tile"]} onClick={onOpen}>
    <Thumbnail image={image} delivery={delivery} />
    <span className={css["name"]} title={image.filename ?? image.id}>
      {image.filename ?? image.id}
    </span>
    {image.draft === true ? <Badge>waits for its file</Badge> : image.requireSignedURLs ? <Badge tone="accent">signed</Badge> : null}
  </button>
);
