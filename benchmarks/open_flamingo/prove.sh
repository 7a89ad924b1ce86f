#!/bin/sh
# A finished run through open_flamingo's real loader and its real train.py, on a CPU:
#   sh prove.sh RUN ENVIRONMENT WORK [STEPS]
# RUN has shards as webdataset; ENVIRONMENT is what make_environment.sh made; WORK is a new folder for all that is
# written. OBELICS is the command of this project (default: obelics). Leaves WORK/placement.json and WORK/train.log.
set -eu
run=$1 environment=$2 work=$3 steps=${4:-10} batch=8
here=$(cd "$(dirname "$0")" && pwd)
python="$environment/bin/python"
mkdir -p "$work"
${OBELICS:-obelics} export "$run" --format open_flamingo --output "$work/export" --shards 4 | tee "$work/export.txt"
${OBELICS:-obelics} validate "$work/export"
"$python" - "$run" > "$work/texts.txt" <<'END'
import glob, json, sys, tarfile
for name in sorted(glob.glob(f"{sys.argv[1]}/shards/*.tar")):
    with tarfile.open(name) as tar:
        for info in tar:
            if info.name.endswith(".json"):
                print("\n".join(text for text in json.load(tar.extractfile(info))["texts"] if text))
END
cd "$here"
"$python" tiny_models.py "$work/models" "$work/texts.txt"
"$python" placement.py "$run" "$work/export" "$work/models" | tee "$work/placement.json"
files() { ls "$work/export/$1" | sed -n "s/.*-\([0-9]*\).tar/\1/p" | tail -1; }
cd "$work"
"$environment/bin/torchrun" --nproc_per_node 1 "$here/run_train.py" --lm_path "$work/models/lm" \
    --tokenizer_path "$work/models/lm" --vision_encoder_path ViT-S-32-alt --vision_encoder_pretrained "$work/models/vision.pt" \
    --mmc4_shards "$work/export/shards/shard-{000000..$(files shards)}.tar" \
    --laion_shards "$work/export/laion/laion-{000000..$(files laion)}.tar" \
    --train_num_samples_mmc4 $((steps * batch)) --train_num_samples_laion $((steps * batch)) \
    --batch_size_mmc4 $batch --batch_size_laion $batch --workers 2 --warmup_steps 2 --learning_rate 1e-3 \
    --dist-backend gloo --offline --run_name trained > train.log 2>&1 || { tail -20 train.log; exit 1; }
grep -E "^loss|\]loss|Total training steps|Saving" train.log | sed "s/.*\]loss/loss/"
