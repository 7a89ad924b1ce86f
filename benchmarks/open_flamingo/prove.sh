#!/usr/bin/env bash
# A finished run through open_flamingo's real loader and its real train.py, on a CPU:
#   bash prove.sh RUN ENVIRONMENT WORK [STEPS]
# RUN has shards as webdataset; ENVIRONMENT is what make_environment.sh made; WORK is a new folder for all that is
# written. OBELICS is the command of this project (default: obelics). Leaves WORK/placement.json and WORK/train.log.
# Ends with 1 at the first thing that fails, whatever it is; the last line is "proved".
set -Eeuo pipefail
trap 'echo "prove.sh: stopped at line $LINENO: nothing is proved" >&2; exit 1' ERR
if [ $# -lt 3 ]; then
    echo "prove.sh: RUN, ENVIRONMENT and WORK are needed: bash prove.sh RUN ENVIRONMENT WORK [STEPS]" >&2
    exit 2
fi
run=$(realpath -e -- "$1")
environment=$(realpath -e -s -- "$2") # a link to an interpreter would lead out of it
mkdir -p -- "$3"
work=$(realpath -e -- "$3")
steps=${4:-10} batch=8
here=$(cd -- "$(dirname -- "$0")" && pwd)
python="$environment/bin/python"
read -r -a obelics <<< "${OBELICS:-obelics}" # a command may have words
"${obelics[@]}" export "$run" --format open_flamingo --output "$work/export" --shards 4 | tee "$work/export.txt"
"${obelics[@]}" validate "$work/export"
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
last() { # the number of the last tar of a folder
    local tars=("$work/export/$1/"*-[0-9]*.tar)
    [ -e "${tars[0]}" ] || { echo "prove.sh: $work/export/$1 has no tars" >&2; return 1; }
    local name=${tars[-1]##*-}
    echo "${name%.tar}"
}
shards=$(last shards)
laion=$(last laion)
cd "$work"
"$environment/bin/torchrun" --nproc_per_node 1 "$here/run_train.py" --lm_path "$work/models/lm" \
    --tokenizer_path "$work/models/lm" --vision_encoder_path ViT-S-32-alt --vision_encoder_pretrained "$work/models/vision.pt" \
    --mmc4_shards "$work/export/shards/shard-{000000..$shards}.tar" \
    --laion_shards "$work/export/laion/laion-{000000..$laion}.tar" \
    --train_num_samples_mmc4 $((steps * batch)) --train_num_samples_laion $((steps * batch)) \
    --batch_size_mmc4 $batch --batch_size_laion $batch --workers 2 --warmup_steps 2 --learning_rate 1e-3 \
    --dist-backend gloo --offline --run_name trained > train.log 2>&1 || { tail -20 train.log; exit 1; }
grep -E "^loss|\]loss|Total training steps|Saving" train.log | sed "s/.*\]loss/loss/"
echo proved
